package dev.idempotency.gateway.store.postgres;

/** The statements, each of which is one call of a function (see the migrations) or one query. */
final class Sql {

  private static final String MS = "? * interval '1 millisecond'";

  /** What is not finished, as {@code seen} tells it. */
  private static final String OPEN =
      "SELECT o.id, o.attempt, o.token, o.state, o.fingerprint_version, o.fingerprint, o.marks, o.note,"
          + " o.status, o.fields, o.body,"
          + " ceil(extract(epoch FROM o.open_since - now()) * 1000)::bigint AS lease_left,"
          + " (extract(epoch FROM o.open_since) * 1000000)::bigint AS since FROM ";

  final String reserve;
  final String takeOver;
  final String renew;
  final String settle;
  final String release;
  final String find;
  final String resolve;
  final String claimProbe;
  final String history;
  final String list;
  final String count;
  final String putPiece;
  final String getPiece;
  final String dropPieces;

  Sql(String schema) {
    String in = "\"" + schema + "\".";
    String attempt = "_1(?, ?, ?, ?, ?, ?, ?, " + MS + ", " + MS + ")";
    this.reserve = "SELECT * FROM " + in + "reserve" + attempt;
    this.takeOver =
        "SELECT * FROM " + in + "take_over_1(?, ?, ?, ?, ?, ?, ?, " + MS + ", " + MS + ", ?)";
    this.renew = "SELECT * FROM " + in + "renew" + attempt;
    this.settle =
        "SELECT * FROM "
            + in
            + "settle_1(?, ?, ?, ?, ?, ?, ?, "
            + MS
            + ", CAST(? AS \"char\"), ?, ?, ?)";
    this.release = "SELECT * FROM " + in + "release_1(?, ?, ?)";
    this.find = "SELECT * FROM " + in + "find_1(?)";
    this.resolve =
        "SELECT * FROM "
            + in
            + "resolve_1(?, ?, ?, ?, CAST(? AS \"char\"), "
            + MS
            + ", ?, ?, ?, ?, ?, ?)";
    this.claimProbe = "SELECT * FROM " + in + "claim_probe_1(?, ?, ?, " + MS + ", " + MS + ")";
    this.history =
        "SELECT floor(extract(epoch FROM h.at) * 1000)::bigint AS at, h.what, h.attempt, h.who,"
            + " h.why FROM "
            + in
            + "history h WHERE h.id = ? AND h.expires_at > now() ORDER BY h.number";
    // The clock that stands still within a statement, or no index would serve.
    this.list =
        OPEN
            + in
            + "operation o WHERE o.open_since IS NOT NULL AND o.open_since <= "
            + "CASE WHEN ? THEN 'infinity' ELSE now() - "
            + MS
            + " END"
            + " AND (o.open_since, o.id) > (to_timestamp(0) + ? * interval '1 microsecond', ?)"
            + " AND o.expires_at > now() ORDER BY o.open_since, o.id LIMIT ?";
    this.count =
        "SELECT (SELECT count(*) FROM "
            + in
            + "operation o WHERE o.open_since IS NOT NULL AND (a.age < 0 OR o.open_since <= now()"
            + " - a.age * interval '1 millisecond'))"
            + " AS operations FROM unnest(?) WITH ORDINALITY AS a(age, n) ORDER BY a.n";
    this.putPiece =
        "INSERT INTO "
            + in
            + "piece VALUES (?, ?, ?, ?, now() + "
            + MS
            + ") ON CONFLICT (id, token, number) DO UPDATE SET content = excluded.content,"
            + " expires_at = excluded.expires_at";
    this.dropPieces = "DELETE FROM " + in + "piece WHERE id = ? AND token = ? AND number < ?";
    this.getPiece =
        "SELECT content FROM "
            + in
            + "piece WHERE id = ? AND token = ? AND number = ? AND expires_at > now()";
  }
}
