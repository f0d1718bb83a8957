package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Kind;
import java.io.StringReader;
import java.util.Optional;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.DumperOptions.ScalarStyle;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.composer.Composer;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.ReaderException;
import org.yaml.snakeyaml.reader.StreamReader;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * YAML as a tree of nodes. Anchors and aliases are allowed, tags and merge keys are not; what a
 * scalar is follows the core schema of YAML 1.2, so that {@code off} and {@code no} are words.
 *
 * <p>Composed without a data binding, which alone would take a good part of the start-up time.
 */
final class YamlTree {

  private static final String STANDARD_TAG = "tag:yaml.org,2002:";
  private static final Pattern INTEGER = Pattern.compile("[-+]?[0-9]+");
  private static final Pattern TRUTH = Pattern.compile("true|True|TRUE|false|False|FALSE");
  private static final Pattern NOTHING = Pattern.compile("|~|null|Null|NULL");

  private YamlTree() {}

  /** The root of the only document, or nothing and a problem. */
  static Optional<Node> read(String text, Problems problems) {
    LoaderOptions options = new LoaderOptions();
    try {
      Node root =
          new Composer(
                  new ParserImpl(new StreamReader(new StringReader(text)), options),
                  new Resolver(),
                  options)
              .getSingleNode();
      if (root == null) {
        problems.addLine("the file is empty (expected: at least upstreams and routes)");
      }
      return Optional.ofNullable(root);
    } catch (MarkedYAMLException e) {
      problems.addLine(place(e.getProblemMark()) + e.getProblem());
    } catch (ReaderException e) {
      problems.addLine(place(text, e.getPosition()) + "a character that YAML does not allow");
    } catch (YAMLException e) {
      problems.addLine("not YAML: " + e.getMessage());
    }
    return Optional.empty();
  }

  // Only places and never the lines themselves: these may hold a secret.
  private static String place(Mark mark) {
    return "line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1) + ": ";
  }

  private static String place(String text, int position) {
    String before = text.substring(0, Math.min(position, text.length()));
    long line = before.chars().filter(c -> c == '\n').count() + 1;
    return "line " + line + ", column " + (before.length() - before.lastIndexOf('\n')) + ": ";
  }

  static Kind kindOf(ScalarNode scalar) {
    String text = scalar.getValue();
    if (scalar.getScalarStyle() != ScalarStyle.PLAIN) {
      return Kind.TEXT;
    }
    if (NOTHING.matcher(text).matches()) {
      return Kind.NOTHING;
    }
    if (TRUTH.matcher(text).matches()) {
      return Kind.TRUTH;
    }
    return INTEGER.matcher(text).matches() ? Kind.INTEGER : Kind.TEXT;
  }

  static boolean hasOwnTag(Node node) {
    return !node.getTag().getValue().startsWith(STANDARD_TAG);
  }

  /** A node as a message shows it: short, in one line, without a password. */
  static String show(Node node) {
    if (!(node instanceof ScalarNode scalar)) {
      return node instanceof SequenceNode ? "a list" : "a mapping";
    }
    if (hasOwnTag(node)) {
      return "a value with the tag " + node.getTag();
    }
    return kindOf(scalar) == Kind.NOTHING ? "nothing" : Messages.show(scalar.getValue());
  }
}
