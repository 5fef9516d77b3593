-- Records each change of a node and of a pod's head, run as one transaction. The lock at the end of each transaction makes the order of
-- commits that of commits.n.
CREATE SCHEMA trace;
CREATE TABLE trace.changes (
	n bigserial PRIMARY KEY,
	tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
	writer text NOT NULL DEFAULT current_setting('application_name'),
	began timestamptz NOT NULL DEFAULT now(),
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	old jsonb,
	new jsonb
);
CREATE TABLE trace.commits (n bigserial, tx xid8 PRIMARY KEY);
CREATE FUNCTION trace.commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	PERFORM pg_advisory_xact_lock(7461163);
	INSERT INTO trace.commits (tx) VALUES (NEW.tx) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER trace AFTER INSERT ON trace.changes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION trace.commit();
CREATE FUNCTION trace.change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO trace.changes (old, new) VALUES (to_jsonb(OLD) - '{status,batch}'::text[], to_jsonb(NEW) - '{status,batch}'::text[]);
	RETURN NULL;
END $$;
LOCK TABLE nodes, heads IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO trace.changes (new) SELECT to_jsonb(n) FROM nodes n;
INSERT INTO trace.changes (new) SELECT to_jsonb(h) - '{status,batch}'::text[] FROM heads h;
CREATE TRIGGER trace AFTER INSERT OR UPDATE OR DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION trace.change();
CREATE TRIGGER trace AFTER INSERT OR UPDATE OR DELETE ON heads FOR EACH ROW EXECUTE FUNCTION trace.change();
