package dev.idempotency.gateway.idempotency;

/**
 * Who resolves an operation from outside, and why.
 *
 * @param who a name, not a credential; 1 to 100 characters
 * @param why a reason for people; 1 to 500 characters
 */
public record Audit(String who, String why) {

  private static final int LONGEST_WHO = 100;
  private static final int LONGEST_WHY = 500;

  public Audit {
    check("who", who, LONGEST_WHO);
    check("why", why, LONGEST_WHY);
  }

  private static void check(String name, String text, int longest) {
    if (text.isBlank() || text.length() > longest) {
      throw new IllegalArgumentException(
          name + " has " + text.length() + " characters, expected: 1 to " + longest);
    }
  }
}
