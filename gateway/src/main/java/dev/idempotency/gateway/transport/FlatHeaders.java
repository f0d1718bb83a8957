package dev.idempotency.gateway.transport;

import dev.idempotency.gateway.http.Headers;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The gateway's own header fields in the form that the codec wants, so that a message's fields are
 * neither copied nor hashed on their way through. Names and values are checked as they come in from
 * the wire (RFC 9110 §5.1, §5.5).
 */
public final class FlatHeaders extends HttpHeaders {

  /** For decoders. */
  public static final HttpHeadersFactory FACTORY =
      new HttpHeadersFactory() {
        @Override
        public HttpHeaders newHeaders() {
          return new FlatHeaders(new Headers());
        }

        @Override
        public HttpHeaders newEmptyHeaders() {
          return new FlatHeaders(new Headers());
        }
      };

  private final Headers headers;

  /** A view: changes are made to {@code headers} itself. */
  public FlatHeaders(Headers headers) {
    this.headers = headers;
  }

  /** The fields of a message; copied only where they are not the gateway's own. */
  public static Headers of(HttpHeaders fields) {
    if (fields instanceof FlatHeaders flat) {
      return flat.headers;
    }
    Headers copy = new Headers();
    fields.forEach(field -> copy.add(field.getKey(), field.getValue()));
    return copy;
  }

  @Override
  public HttpHeaders add(String name, Object value) {
    headers.add(checkedName(name), checkedValue(value));
    return this;
  }

  @Override
  public HttpHeaders add(CharSequence name, Object value) {
    return add(name.toString(), value);
  }

  private static String checkedName(String name) {
    if (name.isEmpty() || HttpHeaderValidationUtil.validateToken(name) != -1) {
      throw new IllegalArgumentException("a header name is not a token");
    }
    return name;
  }

  @SuppressWarnings("JavaUtilDate") // what the codec's interface speaks of
  private static String checkedValue(Object value) {
    String text = value instanceof Date date ? DateFormatter.format(date) : value.toString();
    if (HttpHeaderValidationUtil.validateValidHeaderValue(text) != -1) {
      throw new IllegalArgumentException("a header value has a control character");
    }
    return text;
  }

  @Override
  public HttpHeaders add(String name, Iterable<?> values) {
    values.forEach(value -> add(name, value));
    return this;
  }

  @Override
  public HttpHeaders addInt(CharSequence name, int value) {
    return add(name.toString(), Integer.toString(value));
  }

  @Override
  public HttpHeaders addShort(CharSequence name, short value) {
    return add(name.toString(), Short.toString(value));
  }

  @Override
  public HttpHeaders set(String name, Object value) {
    headers.set(checkedName(name), checkedValue(value));
    return this;
  }

  @Override
  public HttpHeaders set(String name, Iterable<?> values) {
    headers.remove(name);
    return add(name, values);
  }

  @Override
  public HttpHeaders setInt(CharSequence name, int value) {
    return set(name.toString(), Integer.toString(value));
  }

  @Override
  public HttpHeaders setShort(CharSequence name, short value) {
    return set(name.toString(), Short.toString(value));
  }

  @Override
  public HttpHeaders remove(String name) {
    headers.remove(name);
    return this;
  }

  @Override
  public HttpHeaders clear() {
    headers.clear();
    return this;
  }

  @Override
  public @Nullable String get(String name) {
    return headers.get(name);
  }

  @Override
  public @Nullable Integer getInt(CharSequence name) {
    String value = headers.get(name.toString());
    try {
      return value == null ? null : Integer.valueOf(value.trim());
    } catch (NumberFormatException e) {
      return null;
    }
  }

  @Override
  public int getInt(CharSequence name, int defaultValue) {
    Integer value = getInt(name);
    return value == null ? defaultValue : value;
  }

  @Override
  public @Nullable Short getShort(CharSequence name) {
    Integer value = getInt(name);
    return value == null || value != value.shortValue() ? null : (Short) value.shortValue();
  }

  @Override
  public short getShort(CharSequence name, short defaultValue) {
    Short value = getShort(name);
    return value == null ? defaultValue : value;
  }

  @Override
  @SuppressWarnings("JavaUtilDate")
  public @Nullable Long getTimeMillis(CharSequence name) {
    String value = headers.get(name.toString());
    Date date = value == null ? null : DateFormatter.parseHttpDate(value);
    return date == null ? null : (Long) date.getTime();
  }

  @Override
  public long getTimeMillis(CharSequence name, long defaultValue) {
    Long value = getTimeMillis(name);
    return value == null ? defaultValue : value;
  }

  @Override
  public List<String> getAll(String name) {
    return headers.all(name);
  }

  @Override
  public List<Map.Entry<String, String>> entries() {
    List<Map.Entry<String, String>> entries = new ArrayList<>(headers.size());
    headers.forEach((name, value) -> entries.add(Map.entry(name, value)));
    return entries;
  }

  @Override
  public boolean contains(String name) {
    return headers.contains(name);
  }

  @Override
  public boolean isEmpty() {
    return headers.isEmpty();
  }

  @Override
  public int size() {
    return headers.size();
  }

  @Override
  public Set<String> names() {
    Set<String> names = new LinkedHashSet<>();
    headers.forEach((name, value) -> names.add(name));
    return names;
  }

  /** For the general contract; the codec uses {@link #iteratorCharSequence}. */
  @Deprecated
  @Override
  public Iterator<Map.Entry<String, String>> iterator() {
    return new Fields<>(headers, Map::entry);
  }

  @Override
  public Iterator<Map.Entry<CharSequence, CharSequence>> iteratorCharSequence() {
    return new Fields<>(headers, Map::<CharSequence, CharSequence>entry);
  }

  /** Walks over the fields without copying them first. */
  private static final class Fields<E> implements Iterator<E> {

    private final Headers headers;
    private final BiFunction<String, String, E> entry;
    private int next;

    Fields(Headers headers, BiFunction<String, String, E> entry) {
      this.headers = headers;
      this.entry = entry;
    }

    @Override
    public boolean hasNext() {
      return next < headers.size();
    }

    @Override
    public E next() {
      E field = entry.apply(headers.name(next), headers.value(next));
      next++;
      return field;
    }
  }
}
