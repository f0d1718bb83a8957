package dev.idempotency.gateway.fingerprint;

/**
 * The canonical text of a document, as far as it was read.
 *
 * <p>Most of a document is canonical as it stands. Such runs are copied as a whole, once something
 * after them is left out or spelled in another way; a document without anything of that kind is
 * never copied.
 */
final class Transcript {

  /** What was copied and rewritten so far. */
  final CanonicalText text = new CanonicalText();

  private byte[] in = Reordering.NONE;

  /** Where the run begins that was read, but not copied. */
  private int from;

  void begin(byte[] document) {
    in = document;
    from = 0;
  }

  /** Where the byte at that position stands in the text, if the run goes on up to there. */
  int place(int pos) {
    return text.length + pos - from;
  }

  /** Keeps the input before {@code start} and leaves out what is from there to {@code end}. */
  void leaveOut(int start, int end) {
    if (start > from) {
      copyRun(start);
    }
    from = end;
  }

  private void copyRun(int end) {
    text.reserve(text.length == 0 ? in.length - from : end - from);
    text.put(in, from, end);
  }

  /** Puts a character of a string in the place of the input between these positions. */
  void replace(int start, int end, int codePoint) {
    leaveOut(start, end);
    text.reserve(Long.BYTES);
    text.putCharacter(codePoint);
  }

  /** Cuts the text back to a place that lies before the run, and goes on with the input there. */
  void cutBack(int place, int pos) {
    text.length = place;
    from = pos;
  }

  /** Ends the text with the input before that position; returns its length. */
  int end(int pos) {
    if (from > 0) {
      leaveOut(pos, pos);
      return text.length;
    }
    return pos;
  }

  /** The bytes of the text that was ended: the document itself, where nothing was changed. */
  byte[] bytes() {
    return from > 0 ? text.bytes : in;
  }

  /** Forgets the document and gives back memory beyond {@code most} bytes. */
  void clear(int most) {
    text.clear(most);
    in = Reordering.NONE;
    from = 0;
  }
}
