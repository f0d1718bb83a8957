-- Records of operations, and the commands on them.
--
-- A migration never changes a function that is there: gateways of two versions share the schema
-- during a deploy. What a later version needs otherwise gets a name of its own.
--
-- Every command decides on one row and writes it in one statement, which compares what it has read
-- and tries again where somebody was quicker; at READ COMMITTED each statement sees what was
-- committed last. No decision rests on a second row, so there is no anomaly that SERIALIZABLE
-- would prevent. A row is written by its command only: no lock is held between two of them.
--
-- Time is the server's: clock_timestamp(), which goes on while a statement waits.

CREATE TABLE "${flyway:defaultSchema}".operation (
  -- SHA-256 over scope and key, length-prefixed: nothing of a client is in it.
  id bytea NOT NULL PRIMARY KEY CHECK (length(id) = 32),
  -- R reserved, U unknown, C completed, N done but not kept.
  state "char" NOT NULL CHECK (state IN ('R', 'U', 'C', 'N')),
  attempt bigint NOT NULL,
  token bytea NOT NULL,
  -- 0: open, the request is still on its way.
  fingerprint_version smallint NOT NULL,
  fingerprint bytea NOT NULL,
  marks bigint NOT NULL,
  -- R: end of the lease; U: since when; else null.
  open_since timestamptz,
  expires_at timestamptz NOT NULL,
  note bytea NOT NULL,
  status integer NOT NULL,
  fields bytea,
  body bytea,
  CHECK ((open_since IS NOT NULL) = (state IN ('R', 'U')))
) WITH (
  -- Each row is written at least twice and its indexed times change with it, so that dead rows
  -- come fast.
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.1
);

CREATE INDEX operation_open ON "${flyway:defaultSchema}".operation (open_since, id)
  WHERE open_since IS NOT NULL;
CREATE INDEX operation_expiry ON "${flyway:defaultSchema}".operation (expires_at);

-- What was resolved from outside: by whom and why. It outlives a record that was released.
CREATE TABLE "${flyway:defaultSchema}".history (
  id bytea NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  token bytea NOT NULL,
  at timestamptz NOT NULL,
  what text NOT NULL,
  attempt bigint NOT NULL,
  who text NOT NULL,
  why text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (id, number),
  -- Sent again it is told once.
  UNIQUE (id, token)
);
CREATE INDEX history_expiry ON "${flyway:defaultSchema}".history (expires_at);

-- Who probes an attempt, and how often that was done.
CREATE TABLE "${flyway:defaultSchema}".probe (
  id bytea NOT NULL PRIMARY KEY,
  attempt bigint NOT NULL,
  token bytea NOT NULL,
  tries integer NOT NULL,
  held_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX probe_expiry ON "${flyway:defaultSchema}".probe (expires_at);

-- Pieces of responses that are too large for one value.
CREATE TABLE "${flyway:defaultSchema}".piece (
  id bytea NOT NULL,
  token bytea NOT NULL,
  number integer NOT NULL,
  content bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (id, token, number)
);
ALTER TABLE "${flyway:defaultSchema}".piece ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX piece_expiry ON "${flyway:defaultSchema}".piece (expires_at);

-- What a command answers. reply: A acquired, E existing, G gone, D done, F fenced.
CREATE TYPE "${flyway:defaultSchema}".seen AS (
  reply "char",
  attempt bigint,
  token bytea,
  state "char",
  -- Milliseconds; 0 or less where the lease has run out or there is none.
  lease_left bigint,
  fingerprint_version smallint,
  fingerprint bytea,
  marks bigint,
  note bytea,
  status integer,
  fields bytea,
  body bytea
);

CREATE FUNCTION "${flyway:defaultSchema}".seen_1(
  reply "char", o "${flyway:defaultSchema}".operation, at timestamptz
) RETURNS "${flyway:defaultSchema}".seen LANGUAGE sql STABLE AS $$
  SELECT reply, o.attempt, o.token, o.state,
    CASE WHEN o.state = 'R' THEN ceil(extract(epoch FROM o.open_since - at) * 1000)::bigint
      ELSE 0 END,
    o.fingerprint_version, o.fingerprint, o.marks, o.note, o.status, o.fields, o.body
$$;

-- Puts a row where the one that was read still stands, or where none was.
CREATE FUNCTION "${flyway:defaultSchema}".put_1(
  before "${flyway:defaultSchema}".operation,
  p_id bytea, p_state "char", p_attempt bigint, p_token bytea,
  p_version smallint, p_fingerprint bytea, p_marks bigint,
  p_open_since timestamptz, p_expires_at timestamptz, p_note bytea,
  p_status integer, p_fields bytea, p_body bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF before.id IS NULL THEN
    INSERT INTO "${flyway:defaultSchema}".operation VALUES (
      p_id, p_state, p_attempt, p_token, p_version, p_fingerprint, p_marks,
      p_open_since, p_expires_at, p_note, p_status, p_fields, p_body)
    ON CONFLICT (id) DO NOTHING;
  ELSE
    UPDATE "${flyway:defaultSchema}".operation o SET
      state = p_state, attempt = p_attempt, token = p_token,
      fingerprint_version = p_version, fingerprint = p_fingerprint, marks = p_marks,
      open_since = p_open_since, expires_at = p_expires_at, note = p_note,
      status = p_status, fields = p_fields, body = p_body
    WHERE o.id = p_id AND o.state = before.state AND o.attempt = before.attempt
      AND o.token = before.token AND o.expires_at = before.expires_at;
  END IF;
  RETURN FOUND;
END $$;

CREATE FUNCTION "${flyway:defaultSchema}".reserve_1(
  p_id bytea, p_attempt bigint, p_token bytea,
  p_version smallint, p_fingerprint bytea, p_marks bigint, p_note bytea,
  p_lease interval, p_retention interval
) RETURNS "${flyway:defaultSchema}".seen LANGUAGE plpgsql AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz;
  answer "${flyway:defaultSchema}".seen;
BEGIN
  answer.reply := 'A';
  LOOP
    at := clock_timestamp();
    -- Mostly the key is new. One that is there costs no write.
    INSERT INTO "${flyway:defaultSchema}".operation VALUES (
      p_id, 'R', p_attempt, p_token, p_version, p_fingerprint, p_marks,
      at + p_lease, at + p_lease + p_retention, p_note, 0, NULL, NULL)
    ON CONFLICT (id) DO NOTHING;
    IF FOUND THEN
      RETURN answer;
    END IF;
    SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
    IF NOT FOUND THEN
      CONTINUE;
    END IF;
    at := clock_timestamp();
    IF o.expires_at > at
        AND NOT (o.state = 'R' AND o.attempt = p_attempt AND o.token = p_token) THEN
      RETURN "${flyway:defaultSchema}".seen_1('E', o, at);
    END IF;
    IF "${flyway:defaultSchema}".put_1(
        o, p_id, 'R', p_attempt, p_token, p_version, p_fingerprint, p_marks,
        at + p_lease, at + p_lease + p_retention, p_note, 0, NULL, NULL) THEN
      RETURN answer;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION "${flyway:defaultSchema}".take_over_1(
  p_id bytea, p_attempt bigint, p_token bytea,
  p_version smallint, p_fingerprint bytea, p_marks bigint, p_note bytea,
  p_lease interval, p_retention interval, p_follows bytea
) RETURNS "${flyway:defaultSchema}".seen LANGUAGE plpgsql AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz;
  answer "${flyway:defaultSchema}".seen;
BEGIN
  LOOP
    SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
    at := clock_timestamp();
    IF NOT FOUND OR o.expires_at <= at THEN
      answer.reply := 'G';
      RETURN answer;
    END IF;
    IF NOT (o.state = 'R' AND o.attempt = p_attempt AND o.token = p_token)
        AND NOT ((o.state = 'U' OR (o.state = 'R' AND o.open_since <= at))
          AND o.attempt = p_attempt - 1
          AND (p_follows IS NULL OR o.token = p_follows)
          -- An open one is of a request that never was whole: any may follow it.
          AND (o.fingerprint_version = 0
            OR (o.fingerprint_version = p_version AND o.fingerprint = p_fingerprint))) THEN
      RETURN "${flyway:defaultSchema}".seen_1('E', o, at);
    END IF;
    IF "${flyway:defaultSchema}".put_1(
        o, p_id, 'R', p_attempt, p_token, p_version, p_fingerprint, p_marks,
        at + p_lease, at + p_lease + p_retention, p_note, 0, NULL, NULL) THEN
      answer.reply := 'A';
      RETURN answer;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION "${flyway:defaultSchema}".renew_1(
  p_id bytea, p_attempt bigint, p_token bytea,
  p_version smallint, p_fingerprint bytea, p_marks bigint, p_note bytea,
  p_lease interval, p_retention interval
) RETURNS "${flyway:defaultSchema}".seen LANGUAGE plpgsql AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz;
  lost boolean;
  known boolean;
  answer "${flyway:defaultSchema}".seen;
BEGIN
  LOOP
    SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
    at := clock_timestamp();
    lost := o.id IS NULL OR o.expires_at <= at;
    IF NOT lost AND NOT (o.state = 'R' AND o.attempt = p_attempt AND o.token = p_token) THEN
      RETURN "${flyway:defaultSchema}".seen_1('F', o, at);
    END IF;
    -- A renewal that was sent before the fingerprint was known does not make it unknown again.
    known := p_version = 0 AND NOT lost;
    IF "${flyway:defaultSchema}".put_1(
        o, p_id, 'R', p_attempt, p_token,
        CASE WHEN known THEN o.fingerprint_version ELSE p_version END,
        CASE WHEN known THEN o.fingerprint ELSE p_fingerprint END,
        CASE WHEN known THEN o.marks ELSE p_marks END,
        at + p_lease, at + p_lease + p_retention, p_note, 0, NULL, NULL) THEN
      answer.reply := 'D';
      RETURN answer;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION "${flyway:defaultSchema}".settle_1(
  p_id bytea, p_attempt bigint, p_token bytea,
  p_version smallint, p_fingerprint bytea, p_marks bigint, p_note bytea,
  p_retention interval, p_state "char", p_status integer, p_fields bytea, p_body bytea
) RETURNS "${flyway:defaultSchema}".seen LANGUAGE plpgsql AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz;
  lost boolean;
  answer "${flyway:defaultSchema}".seen;
BEGIN
  answer.reply := 'D';
  LOOP
    SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
    at := clock_timestamp();
    lost := o.id IS NULL OR o.expires_at <= at;
    IF NOT lost AND (o.attempt <> p_attempt OR o.token <> p_token) THEN
      RETURN "${flyway:defaultSchema}".seen_1('F', o, at);
    END IF;
    -- What is settled never changes.
    IF NOT lost AND o.state IN ('C', 'N') THEN
      RETURN answer;
    END IF;
    IF "${flyway:defaultSchema}".put_1(
        o, p_id, p_state, p_attempt, p_token, p_version, p_fingerprint, p_marks,
        CASE WHEN p_state = 'U' THEN at END, at + p_retention, p_note,
        p_status, p_fields, p_body) THEN
      RETURN answer;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION "${flyway:defaultSchema}".release_1(
  p_id bytea, p_attempt bigint, p_token bytea
) RETURNS "${flyway:defaultSchema}".seen LANGUAGE plpgsql AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz;
  answer "${flyway:defaultSchema}".seen;
BEGIN
  answer.reply := 'D';
  LOOP
    SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
    at := clock_timestamp();
    IF NOT FOUND OR o.expires_at <= at THEN
      RETURN answer;
    END IF;
    IF o.state NOT IN ('R', 'U') OR o.attempt <> p_attempt OR o.token <> p_token THEN
      RETURN "${flyway:defaultSchema}".seen_1('F', o, at);
    END IF;
    DELETE FROM "${flyway:defaultSchema}".operation d
    WHERE d.id = p_id AND d.state IN ('R', 'U') AND d.attempt = p_attempt AND d.token = p_token;
    IF FOUND THEN
      RETURN answer;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION "${flyway:defaultSchema}".find_1(p_id bytea)
RETURNS "${flyway:defaultSchema}".seen LANGUAGE plpgsql STABLE AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz := clock_timestamp();
  answer "${flyway:defaultSchema}".seen;
BEGIN
  SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
  IF NOT FOUND OR o.expires_at <= at THEN
    answer.reply := 'G';
    RETURN answer;
  END IF;
  RETURN "${flyway:defaultSchema}".seen_1('E', o, at);
END $$;

-- Adds to the history of an operation, which keeps the latest 32 entries.
CREATE FUNCTION "${flyway:defaultSchema}".tell_1(
  p_id bytea, p_token bytea, p_at timestamptz, p_what text, p_attempt bigint,
  p_who text, p_why text, p_expires_at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "${flyway:defaultSchema}".history h
  SET expires_at = p_expires_at WHERE h.id = p_id AND h.expires_at < p_expires_at;
  INSERT INTO "${flyway:defaultSchema}".history
    (id, token, at, what, attempt, who, why, expires_at)
  VALUES (p_id, p_token, p_at, p_what, p_attempt, p_who, p_why, p_expires_at)
  ON CONFLICT (id, token) DO NOTHING;
  DELETE FROM "${flyway:defaultSchema}".history h WHERE h.id = p_id AND h.number <= (
    SELECT number FROM "${flyway:defaultSchema}".history
    WHERE id = p_id ORDER BY number DESC OFFSET 32 LIMIT 1);
END $$;

-- p_action: C complete, R release, U mark unknown, X extend.
CREATE FUNCTION "${flyway:defaultSchema}".resolve_1(
  p_id bytea, p_attempt bigint, p_holder bytea, p_token bytea, p_action "char",
  p_retention interval, p_what text, p_who text, p_why text, p_status integer, p_fields bytea, p_body bytea
) RETURNS "${flyway:defaultSchema}".seen LANGUAGE plpgsql AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz;
  written boolean;
  answer "${flyway:defaultSchema}".seen;
BEGIN
  answer.reply := 'D';
  LOOP
    SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
    at := clock_timestamp();
    IF NOT FOUND OR o.expires_at <= at THEN
      answer.reply := 'G';
      RETURN answer;
    END IF;
    -- Sent again: what is there is its own work.
    IF o.attempt = p_attempt AND o.token = p_token AND o.state <> 'R' THEN
      RETURN answer;
    END IF;
    IF o.attempt <> p_attempt OR (p_holder IS NOT NULL AND o.token <> p_holder)
        OR NOT (o.state = 'U' OR (o.state = 'R' AND o.open_since <= at)) THEN
      RETURN "${flyway:defaultSchema}".seen_1('F', o, at);
    END IF;
    IF p_action = 'U' AND o.state = 'U' THEN
      RETURN answer;
    END IF;
    IF p_action = 'R' THEN
      DELETE FROM "${flyway:defaultSchema}".operation d
      WHERE d.id = p_id AND d.state = o.state AND d.attempt = o.attempt
        AND d.token = o.token AND d.expires_at = o.expires_at;
      written := FOUND;
    ELSE
      written := "${flyway:defaultSchema}".put_1(
        o, p_id,
        CASE WHEN p_action = 'C' THEN 'C' ELSE 'U' END::"char",
        o.attempt,
        -- Unless it is completed its former owner stays the holder: should its response come
        -- after all, that is the outcome.
        CASE WHEN p_action = 'C' THEN p_token ELSE o.token END,
        o.fingerprint_version, o.fingerprint, o.marks,
        CASE WHEN p_action <> 'C' THEN o.open_since END,
        CASE WHEN p_action = 'U' THEN o.expires_at ELSE at + p_retention END,
        CASE WHEN p_action = 'C' THEN ''::bytea ELSE o.note END,
        p_status, p_fields, p_body);
    END IF;
    IF written THEN
      PERFORM "${flyway:defaultSchema}".tell_1(
        p_id, p_token, at, p_what, p_attempt, p_who, p_why,
        greatest(o.expires_at, at + p_retention));
      RETURN answer;
    END IF;
  END LOOP;
END $$;

-- Tries before, or null where it is held or the attempt is not open; how long it is held, and for
-- how long it has been overdue, in milliseconds. The hold doubles with each try up to the longest.
CREATE FUNCTION "${flyway:defaultSchema}".claim_probe_1(
  p_id bytea, p_attempt bigint, p_holder bytea, p_first interval, p_longest interval,
  OUT before integer, OUT held bigint, OUT overdue bigint, OUT holder bytea
) LANGUAGE plpgsql AS $$
DECLARE
  o "${flyway:defaultSchema}".operation;
  at timestamptz;
  hold interval;
BEGIN
  LOOP
    SELECT * INTO o FROM "${flyway:defaultSchema}".operation WHERE id = p_id;
    at := clock_timestamp();
    IF NOT FOUND OR o.expires_at <= at OR o.attempt <> p_attempt OR o.state NOT IN ('R', 'U')
        OR (p_holder IS NOT NULL AND o.token <> p_holder) THEN
      held := 0;
      RETURN;
    END IF;
    holder := o.token;
    overdue := greatest(0, floor(extract(epoch FROM at - o.open_since) * 1000));
    SELECT least(p_first * 2 ^ least(p.tries, 20), p_longest) INTO hold
    FROM "${flyway:defaultSchema}".probe p
    WHERE p.id = p_id AND p.attempt = p_attempt AND p.token = o.token;
    hold := coalesce(hold, least(p_first, p_longest));
    -- The same key anew is another operation, which its token tells.
    INSERT INTO "${flyway:defaultSchema}".probe AS p
    VALUES (p_id, p_attempt, o.token, 1, at + hold, greatest(o.expires_at, at + hold))
    ON CONFLICT (id) DO UPDATE SET
      attempt = excluded.attempt,
      token = excluded.token,
      tries = CASE WHEN p.attempt = excluded.attempt AND p.token = excluded.token
        THEN p.tries + 1 ELSE 1 END,
      held_until = excluded.held_until,
      expires_at = excluded.expires_at
    WHERE p.attempt <> excluded.attempt OR p.token <> excluded.token OR p.held_until <= at
    RETURNING p.tries - 1, 0 INTO before, held;
    IF FOUND THEN
      RETURN;
    END IF;
    SELECT NULL, ceil(extract(epoch FROM p.held_until - at) * 1000) INTO before, held
    FROM "${flyway:defaultSchema}".probe p WHERE p.id = p_id AND p.held_until > at;
    IF FOUND THEN
      RETURN;
    END IF;
  END LOOP;
END $$;

-- Which commands are there; a gateway that knows no more than these need not migrate.
CREATE FUNCTION "${flyway:defaultSchema}".layout_1() RETURNS integer LANGUAGE sql IMMUTABLE AS
  'SELECT 1';
