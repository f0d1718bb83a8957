----------------------------- MODULE Operation -----------------------------
(***************************************************************************)
(* The life of one operation: its record in the store, the requests that   *)
(* carry its key, the upstream that executes it, and whoever resolves it.  *)
(* Everything may happen between any two steps: a request that takes no    *)
(* step is a gateway that is stopped, one that ends is a gateway that was  *)
(* killed, and a write that is on the wire arrives late or never.          *)
(*                                                                         *)
(* What stands for what                                                    *)
(*   Tries        requests with the key, each in any gateway: they share   *)
(*                nothing but the store. A try is also its own token       *)
(*                (AttemptToken), and the result of executing it           *)
(*   rec          the record; its transitions are those of OperationRecord *)
(*                and of the scripts reserve, take_over, renew, settle,    *)
(*                release and resolve, each of which is one step           *)
(*   copy         what the replica has: a failover puts it in rec's place  *)
(*   lease, sure  leases are counted per token: 0 ran out, 1 the first, 2  *)
(*                the renewed one. Lapse is the store's clock. An owner    *)
(*                counts from before it asked (class Lease), so it stops   *)
(*                being sure at the same step or before                    *)
(*   pc           where a try stands: KeyedExchange up to "held", Attempt  *)
(*                up to "responded", Settling after it                     *)
(*   net, done    requests under way to the upstream, and its effects. An  *)
(*                upstream behind a route with `retry` dedupes by the key  *)
(*   wire         writes that are sent: settle, or give the record back    *)
(*   third        whoever resolves it: an operator, under `probe` also the *)
(*                sweeper. A try that meets an unknown outcome under       *)
(*                `probe` asks as well, so there may be several at a time  *)
(*                                                                         *)
(* Taken for granted: a try sends at the moment it finds itself sure, who  *)
(* asks the upstream resolves before its claim has ended, and all of this  *)
(* happens within the retention. Without probes and releases nothing       *)
(* depends on the first two.                                               *)
(*                                                                         *)
(* Each guard is a constant. With all of them TRUE every property holds;   *)
(* with any of them FALSE one is violated (class ModelTest).               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Tries, None, Operator,
  Policy,         \* "hold", "retry" or "probe"
  MaxFailovers,   \* how often the replica takes the place of the store
  Outages         \* whether a completion may find the store away

CONSTANTS
  AtomicReserve,        \* reserving reads and writes in one step
  HoldsUnknown,         \* an unknown outcome is forwarded only where the route says so
  FencesWrites,         \* settle and release compare the owner
  FencesByToken,        \* ... by its token, not by the attempt's number alone
  RenewsOwnOnly,        \* renew compares the owner
  SecuresBeforeSending, \* nothing is sent without a lease that is surely alive
  StoreClock,           \* a lease has ended when the store's clock says so
  OutlivesLease,        \* the record is there after its lease
  SettlesBeforeAnswer,  \* the response is stored before the client has it
  FollowerKeepsRecord,  \* an attempt that sent nothing does not release what an earlier one sent
  TakeOverCompares,     \* a take-over compares the attempt it has seen
  Waits,                \* a reservation counts when the replica has it
  MarksBeforeAsking,    \* a lapsed reservation is marked unknown before the upstream is asked
  ResolveCompares,      \* a resolution compares the attempt and the state
  ResolveComparesToken, \* ... and the token: numbers begin anew after a release
  OneProbeAtATime,      \* who asks the upstream holds a claim until it has resolved
  WaitsForGrace         \* "never happened" counts when no request can arrive any more

VARIABLES rec, copy, synced, pc, att, sure, seen, net, done, res, told, kept, wire, third,
          failovers, numbers

vars == <<rec, copy, synced, pc, att, sure, seen, net, done, res, told, kept, wire, third,
          failovers, numbers>>

Nothing == [st |-> "none", tok |-> None, att |-> 0, res |-> None, lease |-> 0]
Nobody == [st |-> "idle", att |-> 0, tok |-> None, ans |-> None]
Reserved(t, n, k) == [st |-> "R", tok |-> t, att |-> n, res |-> None, lease |-> k]
Completed(t, n, r) == [st |-> "C", tok |-> t, att |-> n, res |-> r, lease |-> 0]
Unknown(t, n) == [st |-> "U", tok |-> t, att |-> n, res |-> None, lease |-> 0]

Symmetry == Permutations(Tries)

Init ==
  /\ rec = Nothing /\ copy = Nothing /\ synced = {}
  /\ pc = [t \in Tries |-> "new"]
  /\ att = [t \in Tries |-> 0]
  /\ sure = [t \in Tries |-> 0]
  /\ seen = [t \in Tries |-> Nobody]
  /\ net = {} /\ done = {}
  /\ res = [t \in Tries |-> None]
  /\ told = {} /\ kept = {} /\ wire = {}
  /\ third = Nobody
  /\ failovers = 0
  /\ numbers = {}

Go(t, where) == pc' = [pc EXCEPT ![t] = where]

\* The record as the store's clock has it.
OutcomeUnknown(r) == r.st = "U" \/ (r.st = "R" /\ (r.lease = 0 \/ ~StoreClock))
Same(view) == rec.att = view.att /\ (ResolveComparesToken => rec.tok = view.tok)
Owns(t) == \/ ~FencesWrites
           \/ rec.att = att[t] /\ (rec.tok = t \/ ~FencesByToken)
Result(t) == IF Policy = "retry" /\ done # {} THEN CHOOSE r \in done : TRUE ELSE t

-----------------------------------------------------------------------------
(* A request asks for the operation. *)

Grant(t, n) ==
  /\ rec' = Reserved(t, n, 1)
  /\ att' = [att EXCEPT ![t] = n]
  /\ sure' = [sure EXCEPT ![t] = 1]
  /\ synced' = synced \ {t}
  /\ Go(t, "asked")
  /\ UNCHANGED <<copy, seen, net, done, res, told, kept, wire, third, failovers, numbers>>

\* What a record says to a request that does not own it.
Judge(t) ==
  /\ CASE rec.st = "C" -> told' = told \cup {rec.res} /\ Go(t, "ended") /\ UNCHANGED seen
       [] OutcomeUnknown(rec) /\ (Policy # "hold" \/ ~HoldsUnknown) ->
            /\ Go(t, IF Policy = "probe" THEN "marking" ELSE "taking")
            /\ seen' = [seen EXCEPT ![t] = [@ EXCEPT !.att = rec.att, !.tok = rec.tok]]
            /\ UNCHANGED told
       [] OTHER -> Go(t, "ended") /\ UNCHANGED <<told, seen>>
  /\ UNCHANGED <<rec, copy, synced, att, sure, net, done, res, kept, wire, third, failovers,
                 numbers>>

Reserve(t) ==
  /\ pc[t] = "new"
  /\ IF rec.st # "none" THEN Judge(t)
     ELSE IF AtomicReserve THEN Grant(t, 1)
     ELSE /\ Go(t, "free")
          /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, told, kept, wire,
                         third, failovers, numbers>>

ReserveLate(t) == pc[t] = "free" /\ Grant(t, 1)

TakeOver(t) ==
  /\ pc[t] = "taking"
  /\ IF OutcomeUnknown(rec)
        /\ (TakeOverCompares => Same(seen[t]))
     THEN Grant(t, seen[t].att + 1)
     ELSE /\ Go(t, "new")
          /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, told, kept, wire,
                         third, failovers, numbers>>

\* The reply comes, with `Waits` only after the replica has the write ...
Answered(t) ==
  /\ pc[t] = "asked"
  /\ Waits /\ MaxFailovers > 0 => t \in synced
  /\ Go(t, "held")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, told, kept, wire, third,
                 failovers, numbers>>

\* ... or does not, and nobody knows whether the store has done it. And what was granted may not
\* be used: no connection, no place, shutting down. 503, and the record is given back.
Withdraw(t) ==
  /\ pc[t] \in {"asked", "cut", "held"}
  /\ wire' = wire \cup {<<"withdraw", t>>}
  /\ Go(t, "ended")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, told, kept, third,
                 failovers, numbers>>

-----------------------------------------------------------------------------
(* An attempt. *)

\* Before sending, and while the upstream works. What secures a lease has to be durable as well.
Renew(t) ==
  /\ \/ pc[t] = "held" /\ sure[t] = 0
     \/ pc[t] = "sent"
  /\ att[t] > 0 /\ (rec.tok = t => rec.lease < 2)
  /\ IF rec.st = "none" \/ (rec.st = "R" /\ rec.tok = t) \/ (~RenewsOwnOnly /\ rec.st = "R")
     THEN /\ rec' = Reserved(t, att[t], 2)
          /\ sure' = [sure EXCEPT ![t] = 2]
          /\ synced' = synced \ {t}
          /\ Go(t, IF pc[t] = "held" THEN "asked" ELSE pc[t])
     ELSE /\ Go(t, IF pc[t] = "held" THEN "fenced" ELSE pc[t])
          /\ UNCHANGED <<rec, sure, synced>>
  /\ UNCHANGED <<copy, att, seen, net, done, res, told, kept, wire, third, failovers, numbers>>

Send(t) ==
  /\ pc[t] = "held"
  /\ SecuresBeforeSending => sure[t] > 0
  /\ net' = net \cup {t}
  /\ numbers' = numbers \cup {<<att[t], t>>}
  /\ Go(t, "sent")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, done, res, told, kept, wire, third,
                 failovers>>

Arrive(t) ==
  /\ t \in net
  /\ net' = net \ {t}
  /\ done' = done \cup {Result(t)}
  /\ res' = [res EXCEPT ![t] = Result(t)]
  /\ UNCHANGED <<rec, copy, synced, pc, att, sure, seen, told, kept, wire, third, failovers,
                 numbers>>

Drop(t) ==
  /\ t \in net
  /\ net' = net \ {t}
  /\ UNCHANGED <<rec, copy, synced, pc, att, sure, seen, done, res, told, kept, wire, third,
                 failovers, numbers>>

Respond(t) ==
  /\ pc[t] = "sent" /\ res[t] # None
  /\ IF SettlesBeforeAnswer THEN UNCHANGED told ELSE told' = told \cup {res[t]}
  /\ Go(t, "responded")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, kept, wire, third,
                 failovers, numbers>>

\* No response in time: the outcome is unknown, and a response that comes later still counts.
TimeOut(t) ==
  /\ pc[t] = "sent"
  /\ wire' = wire \cup {<<"unknown", t>>}
  /\ Go(t, "late")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, told, kept, third,
                 failovers, numbers>>

LateResponse(t) ==
  /\ pc[t] = "late" /\ res[t] # None
  /\ wire' = wire \cup {<<"complete", t>>}
  /\ Go(t, "ended")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, told, kept, third,
                 failovers, numbers>>

\* Writes the outcome if the record is its own or gone; a completed record stays as it is.
Complete(t) ==
  IF rec.st = "none" \/ (Owns(t) /\ (rec.st \in {"R", "U"} \/ ~FencesWrites))
  THEN rec' = Completed(t, att[t], res[t]) /\ kept' = kept \cup {res[t]}
  ELSE UNCHANGED <<rec, kept>>

Settle(t) ==
  /\ pc[t] = "responded"
  /\ Complete(t)
  /\ Go(t, IF rec'.st = "C" /\ rec'.tok = t THEN "settled" ELSE "fenced")
  /\ UNCHANGED <<copy, synced, att, sure, seen, net, done, res, told, wire, third, failovers,
                 numbers>>

Tell(t) ==
  /\ pc[t] = "settled"
  /\ told' = told \cup {res[t]}
  /\ Go(t, "ended")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, kept, wire, third,
                 failovers, numbers>>

\* The store is away: the client has its response, and the write is tried again.
Defer(t) ==
  /\ Outages
  /\ pc[t] = "responded"
  /\ told' = told \cup {res[t]}
  /\ wire' = wire \cup {<<"complete", t>>}
  /\ Go(t, "ended")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, kept, third, failovers,
                 numbers>>

\* Another attempt holds the record: its word counts.
Fenced(t) ==
  /\ pc[t] = "fenced"
  /\ told' = IF rec.st = "C" THEN told \cup {rec.res} ELSE told
  /\ Go(t, "ended")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, kept, wire, third,
                 failovers, numbers>>

Die(t) ==
  /\ pc[t] \notin {"new", "ended"}
  /\ Go(t, "ended")
  /\ UNCHANGED <<rec, copy, synced, att, sure, seen, net, done, res, told, kept, wire, third,
                 failovers, numbers>>

-----------------------------------------------------------------------------
(* The store. *)

Written(m) ==
  LET t == m[2] IN
  CASE m[1] = "complete" -> Complete(t)
    [] m[1] = "unknown" ->
         /\ IF rec.st = "none" \/ (Owns(t) /\ rec.st \in {"R", "U"})
            THEN rec' = Unknown(t, att[t]) ELSE UNCHANGED rec
         /\ UNCHANGED kept
    [] m[1] = "withdraw" ->
         /\ IF Owns(t) /\ rec.st \in {"R", "U"}
            THEN rec' = IF att[t] = 1 \/ ~FollowerKeepsRecord THEN Nothing
                        ELSE Unknown(t, att[t])
            ELSE UNCHANGED rec
         /\ UNCHANGED kept

\* A late write comes; the copy that is tried again may come as well.
Write(m) ==
  /\ m \in wire
  /\ Written(m)
  /\ wire' = wire \ {m}
  /\ UNCHANGED <<copy, synced, pc, att, sure, seen, net, done, res, told, third, failovers,
                 numbers>>

Ended(r, t, k) ==
  IF r.st = "R" /\ r.tok = t /\ r.lease <= k
  THEN IF OutlivesLease THEN [r EXCEPT !.lease = 0] ELSE Nothing
  ELSE r

\* The store's clock passes the end of the k-th lease that t was granted.
Lapse(t, k) ==
  /\ sure[t] = k \/ (rec.tok = t /\ rec.lease = k) \/ (copy.tok = t /\ copy.lease = k)
  /\ rec' = Ended(rec, t, k)
  /\ copy' = Ended(copy, t, k)
  /\ sure' = [sure EXCEPT ![t] = IF @ <= k THEN 0 ELSE @]
  /\ UNCHANGED <<synced, pc, att, seen, net, done, res, told, kept, wire, third, failovers,
                 numbers>>

Replicate ==
  /\ failovers < MaxFailovers
  /\ copy # rec \/ synced # Tries
  /\ copy' = rec /\ synced' = Tries
  /\ UNCHANGED <<rec, pc, att, sure, seen, net, done, res, told, kept, wire, third, failovers,
                 numbers>>

\* What the replica had not got is forgotten; who waits for a reply gets none.
FailOver ==
  /\ failovers < MaxFailovers
  /\ failovers' = failovers + 1
  /\ rec' = copy
  /\ synced' = Tries
  /\ pc' = [t \in Tries |-> IF pc[t] = "asked" /\ t \notin synced THEN "cut" ELSE pc[t]]
  /\ UNCHANGED <<copy, att, sure, seen, net, done, res, told, kept, wire, third, numbers>>

-----------------------------------------------------------------------------
(* Somebody who is not the owner finds out what happened. *)

MayProbe ==
  \/ ~OneProbeAtATime
  \/ third = Nobody /\ \A t \in Tries : pc[t] \notin {"probing", "resolving"}
                     /\ (Policy = "probe" => pc[t] # "taking")

\* First an end is put to the reservation: its owner may be stopped, not dead.
Mark ==
  IF rec.st = "R" /\ MarksBeforeAsking THEN rec' = Unknown(rec.tok, rec.att) ELSE UNCHANGED rec

\* What the upstream says; "?" where it can't yet be known.
Said(r) ==
  IF done # {} THEN r \in done
  ELSE IF net # {} /\ WaitsForGrace THEN r = "?" ELSE r = "never"

Matches(view) ==
  \/ ~ResolveCompares
  \/ OutcomeUnknown(rec) /\ Same(view)

Resolve(view) ==
  IF ~Matches(view) THEN UNCHANGED <<rec, kept>>
  ELSE IF view.ans = "never" THEN rec' = Nothing /\ UNCHANGED kept
  ELSE /\ rec' = Completed(None, view.att, view.ans)
       /\ kept' = kept \cup {view.ans}

ThirdLooks ==
  /\ third.st = "idle" /\ OutcomeUnknown(rec) /\ MayProbe
  /\ Mark
  /\ third' = [st |-> "looked", att |-> rec.att, tok |-> rec.tok, ans |-> None]
  /\ UNCHANGED <<copy, synced, pc, att, sure, seen, net, done, res, told, kept, wire,
                 failovers, numbers>>

\* Operators may have words of their own for what happened, but where a failover may have lost the
\* response that somebody was told: against that only durable completions help.
ThirdAsks ==
  /\ third.st = "looked"
  /\ \E r \in Tries \cup {Operator, "never", "?"} :
       /\ Said(r) \/ (r = Operator /\ Policy = "hold" /\ ~Outages /\ MaxFailovers = 0)
       /\ third' = IF r = "?" THEN Nobody ELSE [third EXCEPT !.st = "knows", !.ans = r]
  /\ UNCHANGED <<rec, copy, synced, pc, att, sure, seen, net, done, res, told, kept, wire,
                 failovers, numbers>>

ThirdResolves ==
  /\ third.st = "knows"
  /\ Resolve(third)
  /\ third' = Nobody
  /\ UNCHANGED <<copy, synced, pc, att, sure, seen, net, done, res, told, wire, failovers,
                 numbers>>

\* A duplicate under `probe` does the same by itself, and goes on as the next attempt where nothing
\* ever happened.
TryMarks(t) ==
  /\ pc[t] = "marking"
  /\ IF OutcomeUnknown(rec) /\ Same(seen[t]) /\ MayProbe
     THEN Mark /\ Go(t, "probing")
     ELSE Go(t, "ended") /\ UNCHANGED rec
  /\ UNCHANGED <<copy, synced, att, sure, seen, net, done, res, told, kept, wire, third,
                 failovers, numbers>>

TryAsks(t) ==
  /\ pc[t] = "probing"
  /\ \E r \in Tries \cup {"never", "?"} :
       /\ Said(r)
       /\ Go(t, IF r = "?" THEN "ended" ELSE IF r = "never" THEN "taking" ELSE "resolving")
       /\ seen' = [seen EXCEPT ![t] = [@ EXCEPT !.ans = r]]
  /\ UNCHANGED <<rec, copy, synced, att, sure, net, done, res, told, kept, wire, third,
                 failovers, numbers>>

TryResolves(t) ==
  /\ pc[t] = "resolving"
  /\ Resolve(seen[t])
  /\ Go(t, "new")
  /\ UNCHANGED <<copy, synced, att, sure, seen, net, done, res, told, wire, third, failovers,
                 numbers>>

-----------------------------------------------------------------------------
Next ==
  \/ \E t \in Tries :
       \/ Reserve(t) \/ ReserveLate(t) \/ TakeOver(t) \/ Answered(t) \/ Withdraw(t)
       \/ Renew(t) \/ Send(t) \/ Arrive(t) \/ Drop(t) \/ Respond(t) \/ TimeOut(t)
       \/ LateResponse(t) \/ Settle(t) \/ Tell(t) \/ Defer(t) \/ Fenced(t) \/ Die(t)
       \/ TryMarks(t) \/ TryAsks(t) \/ TryResolves(t)
       \/ \E k \in {1, 2} : Lapse(t, k)
  \/ \E m \in wire : Write(m)
  \/ Replicate \/ FailOver
  \/ ThirdLooks \/ ThirdAsks \/ ThirdResolves

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must hold. *)

\* No operation happens twice.
AtMostOneEffect == Cardinality(done) <= 1

\* 1: at most one attempt is being forwarded under a live lease. (A failover may lose the renewals
\* of what was sent, and with them the end of its lease: what was sent stays remembered.)
UnderLease(t) == failovers = 0 /\ pc[t] = "sent" /\ sure[t] > 0
OneUnderLease == Cardinality({t \in Tries : UnderLease(t)}) <= 1

\* 2: a completed record does not change ...
CompletedStays ==
  [][failovers' = failovers /\ rec.st = "C" => rec' = rec]_vars

\* ... and what holds under a live lease is changed by its owner only. A third party has no token
\* of a try, so a change of the token is the change of another.
OwnerWrites ==
  [][failovers' = failovers /\ rec.st = "R" /\ rec.lease > 0 /\ rec'.tok # rec.tok
       => rec'.st = "none" /\ wire' # wire]_vars

\* 4: all are told the same, and it is what the record said.
AllAreToldTheSame == Cardinality(told) <= 1
ToldIsKept == told \subseteq kept

\* 5: what may have happened is remembered, so that it is not taken for new. Who resolves it as
\* never happened has seen that nothing can come of it any more.
MayHaveHappened == done # {} \/ net # {}
SentIsRemembered == MayHaveHappened => rec.st # "none"

\* 5: under `hold` the next attempt needs somebody who has released the one before.
HeldIsNotFollowed == Policy = "hold" => \A t \in Tries : att[t] <= 1

\* The number that the upstream is given names one attempt.
NumbersAreUnique ==
  MayHaveHappened =>
    \A a, b \in {n \in numbers : n[2] \in net \cup done} : a[1] = b[1] => a[2] = b[2]

\* 8: the record outlives the lease.
LeaseHasRecord == \A t \in Tries : UnderLease(t) => rec.st # "none"
=============================================================================
