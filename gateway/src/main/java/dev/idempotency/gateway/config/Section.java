package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * A mapping of the file while it is read. Values are asked for by key; a key that nobody asked for
 * when the section is closed is unknown. Whatever is wrong becomes a problem, and reading goes on
 * with the default.
 */
final class Section implements AutoCloseable {

  private final Problems problems;
  private final String path;
  private final String pattern;
  private final boolean mapping;
  private final Map<String, Node> values = new LinkedHashMap<>();
  private final Set<String> asked = new LinkedHashSet<>();

  private Section(Problems problems, String path, String pattern, @Nullable Node node) {
    this.problems = problems;
    this.path = path;
    this.pattern = pattern;
    this.mapping = node instanceof MappingNode && !YamlTree.hasOwnTag(node);
    if (mapping && node instanceof MappingNode entries) {
      entries.getValue().forEach(this::put);
    } else if (node != null) {
      wrong(path.isEmpty() ? "the file" : path, node, "a mapping of keys to values");
    }
  }

  static Section root(Node node, Problems problems) {
    return new Section(problems, "", "", node);
  }

  private void put(NodeTuple entry) {
    if (!(entry.getKeyNode() instanceof ScalarNode key)) {
      problems.add(path.isEmpty() ? "the file" : path, "a list or mapping as a key", "a word");
    } else if (values.putIfAbsent(key.getValue(), entry.getValueNode()) != null) {
      problems.addLine(
          path(key.getValue()) + ": given twice, again in line " + line(key) + " (expected: once)");
    }
  }

  private static int line(Node node) {
    return node.getStartMark().getLine() + 1;
  }

  boolean has(String key) {
    return values.containsKey(key);
  }

  /** Where the section itself is. */
  String path() {
    return path;
  }

  String path(String key) {
    return path.isEmpty() ? key : path + '.' + key;
  }

  private String pattern(String key) {
    return pattern.isEmpty() ? key : pattern + '.' + key;
  }

  private @Nullable Node ask(String key) {
    asked.add(key);
    problems.know(pattern(key));
    return values.get(key);
  }

  <T> T get(String key, Format<T> format, T byDefault) {
    return find(key, format).orElse(byDefault);
  }

  /** The value of a key that must be there; the placeholder where it is not or is wrong. */
  <T> T require(String key, Format<T> format, T placeholder) {
    if (!has(key)) {
      problems.add(path(key), "missing", format.expected());
    }
    return get(key, format, placeholder);
  }

  <T> Optional<T> find(String key, Format<T> format) {
    Node node = ask(key);
    return node == null ? Optional.empty() : read(path(key), node, format);
  }

  /** The elements of a list that has some, without those that are wrong. */
  <T> Optional<List<T>> list(String key, Format<T> format) {
    return nodes(key, "a list of at least one " + format.expected())
        .map(nodes -> elements(key, nodes, format));
  }

  /** The elements of a list that may have none, without those that are wrong. */
  <T> Optional<List<T>> listOrNone(String key, Format<T> format) {
    if (ask(key) instanceof SequenceNode empty && empty.getValue().isEmpty()) {
      return Optional.of(List.of());
    }
    return list(key, format);
  }

  private <T> List<T> elements(String key, List<Node> nodes, Format<T> format) {
    List<T> elements = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      read(path(key) + '[' + i + ']', nodes.get(i), format).ifPresent(elements::add);
    }
    return elements;
  }

  /** The value under one of {@link #keys}. */
  <T> Optional<T> findEntry(String key, Format<T> format) {
    problems.know(pattern("*"));
    return Optional.ofNullable(values.get(key)).flatMap(node -> read(path(key), node, format));
  }

  private Optional<List<Node>> nodes(String key, String example) {
    Node node = ask(key);
    if (node instanceof SequenceNode sequence && !YamlTree.hasOwnTag(node)) {
      if (sequence.getValue().isEmpty()) {
        problems.add(path(key), "an empty list", example);
      }
      return Optional.of(sequence.getValue());
    }
    if (node != null) {
      wrong(path(key), node, example);
    }
    return Optional.empty();
  }

  /** The section under a key, an empty one where there is none. */
  Section section(String key) {
    return new Section(problems, path(key), pattern(key), ask(key));
  }

  /** The sections in the list under a key. */
  List<Section> sections(String key, String example) {
    List<Section> sections = new ArrayList<>();
    for (Node node : nodes(key, example).orElse(List.of())) {
      String place = '[' + Integer.toString(sections.size()) + ']';
      sections.add(new Section(problems, path(key) + place, pattern(key) + "[]", node));
    }
    return sections;
  }

  /** The value under a key, in its short form or as a section of its own. */
  <T> Optional<T> one(String key, Format<T> shortForm, Function<Section, Optional<T>> longForm) {
    Node node = ask(key);
    return node == null
        ? Optional.empty()
        : read(path(key), pattern(key), node, shortForm, longForm);
  }

  /** The values in the list under a key, each in its short form or as a section of its own. */
  <T> List<T> several(String key, Format<T> shortForm, Function<Section, Optional<T>> longForm) {
    List<T> values = new ArrayList<>();
    List<Node> nodes =
        nodes(key, "a list of at least one " + shortForm.expected()).orElse(List.of());
    for (int i = 0; i < nodes.size(); i++) {
      String place = path(key) + '[' + i + ']';
      read(place, pattern(key) + "[]", nodes.get(i), shortForm, longForm).ifPresent(values::add);
    }
    return values;
  }

  private <T> Optional<T> read(
      String place,
      String kind,
      Node node,
      Format<T> shortForm,
      Function<Section, Optional<T>> longForm) {
    return node instanceof MappingNode entries
        ? longForm.apply(new Section(problems, place, kind, entries))
        : read(place, node, shortForm);
  }

  /**
   * The values under a key that may hold one or a list of them, each of which may have a short form
   * or be a section of its own.
   */
  <T> List<T> each(String key, Format<T> shortForm, Function<Section, T> longForm) {
    Node node = ask(key);
    Function<Section, Optional<T>> section = longForm.andThen(Optional::of);
    return node instanceof SequenceNode && !YamlTree.hasOwnTag(node)
        ? several(key, shortForm, section)
        : one(key, shortForm, section).map(List::of).orElse(List.of());
  }

  /** The keys of a section whose keys are not given by the format, all of them asked for. */
  Set<String> keys() {
    asked.addAll(values.keySet());
    return values.keySet();
  }

  /** The section under one of {@link #keys}. */
  Section entry(String key) {
    problems.know(pattern("*"));
    return new Section(problems, path(key), pattern("*"), values.get(key));
  }

  boolean isMapping() {
    return mapping;
  }

  boolean isEmptyMapping() {
    return mapping && values.isEmpty();
  }

  boolean isScalar(String key) {
    return values.get(key) instanceof ScalarNode;
  }

  private <T> Optional<T> read(String place, Node node, Format<T> format) {
    Parsed<T> parsed =
        node instanceof ScalarNode scalar && !YamlTree.hasOwnTag(node)
            ? format.read(scalar.getValue(), YamlTree.kindOf(scalar))
            : new Parsed.Bad<>(format.expected());
    if (parsed instanceof Parsed.Bad<T> bad) {
      problems.add(place, format.hidden() ? Secret.MASK : YamlTree.show(node), bad.expected());
      return Optional.empty();
    }
    return Optional.of(((Parsed.Good<T>) parsed).value());
  }

  private void wrong(String place, Node node, String expected) {
    problems.add(place, YamlTree.show(node), expected);
  }

  /** Reports what nobody asked for. */
  @Override
  public void close() {
    for (String key : values.keySet()) {
      if (!asked.contains(key)) {
        String hint =
            Nearest.to(key, asked)
                .map(near -> "did you mean " + near + "?")
                .orElse("expected: " + Formats.alternatives(List.copyOf(asked)));
        problems.addLine(path(key) + ": unknown key (" + hint + ")");
      }
    }
  }
}
