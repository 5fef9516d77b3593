-- Version 2. Names and ids compare by their bytes, as in package store.
CREATE TABLE meta (
	one boolean PRIMARY KEY DEFAULT true CHECK (one),
	version int NOT NULL,
	id text NOT NULL,
	-- Where the pods went, or from where a copy is not complete yet: no podd opens either.
	left_for text,
	filled_from text
);
-- A podd of several that use the database at once. id is that of its state directory, start that
-- of its run: a lease whose start is another is over; without one, others may take its movable
-- pods. shares are the shared directories that it has. away is set once others have said so.
CREATE TABLE nodes (
	id text COLLATE "C" PRIMARY KEY,
	start text NOT NULL,
	boot text NOT NULL,
	name text COLLATE "C" NOT NULL UNIQUE,
	address text NOT NULL,
	version text NOT NULL,
	config text NOT NULL,
	beat bigint NOT NULL DEFAULT 0,
	lease_until timestamptz NOT NULL,
	seen timestamptz NOT NULL,
	running int NOT NULL DEFAULT 0,
	draining boolean NOT NULL DEFAULT false,
	away boolean NOT NULL DEFAULT false,
	shares text[] NOT NULL DEFAULT '{}'
);
-- record is a sealed podd.v1.Pod: id, name, spec, time of creation. A pod in the trash has
-- no name here.
CREATE TABLE pods (
	id text COLLATE "C" PRIMARY KEY,
	name text COLLATE "C" UNIQUE,
	record bytea NOT NULL
);
-- place is the id of the podd that has the pod; empty for one that no podd has yet, and for a
-- movable one whose podd stopped. share is the shared directory that has the workspace; empty for
-- a pod that is not movable. root is the pod at the top of its family; empty until its podd joins.
-- An empty log has a last below its first. batch names what was written last; whoever asks for
-- it raises fence, which a plain append must know. status is a podd.v1.Pod with only the status.
CREATE TABLE heads (
	pod text COLLATE "C" PRIMARY KEY REFERENCES pods (id),
	place text COLLATE "C" NOT NULL,
	trashed boolean NOT NULL DEFAULT false,
	epoch bigint NOT NULL DEFAULT 0,
	first bigint NOT NULL,
	last bigint NOT NULL,
	queued int NOT NULL DEFAULT 0,
	fence bigint NOT NULL DEFAULT 0,
	batch bytea,
	status bytea NOT NULL,
	active bigint NOT NULL,
	active_nanos int NOT NULL,
	share text COLLATE "C" NOT NULL DEFAULT '',
	root text COLLATE "C" NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
CREATE INDEX ON heads (place) WHERE share <> '';
CREATE INDEX ON heads (root);
-- A deleted pod's entries stay while a fork needs them.
CREATE TABLE entries (
	log text COLLATE "C",
	seq bigint,
	record bytea NOT NULL,
	PRIMARY KEY (log, seq)
);
-- The entries of pod up to upto, above those of the row before, are in the log of owner.
CREATE TABLE lineages (
	pod text COLLATE "C" REFERENCES heads,
	upto bigint,
	owner text COLLATE "C" NOT NULL,
	PRIMARY KEY (pod, upto)
);
CREATE INDEX ON lineages (owner);
CREATE TABLE inbox (
	pod text COLLATE "C" REFERENCES heads,
	seq bigint,
	PRIMARY KEY (pod, seq)
);
CREATE TABLE requests (
	pod text COLLATE "C" REFERENCES heads,
	id text COLLATE "C",
	seq bigint NOT NULL,
	digest bytea NOT NULL,
	queued boolean NOT NULL,
	PRIMARY KEY (pod, id)
);
CREATE INDEX ON requests (pod, seq);
-- The record of the mark that is the first entry of a purged log.
CREATE TABLE purges (
	pod text COLLATE "C" PRIMARY KEY REFERENCES heads,
	record bytea NOT NULL
);
CREATE TABLE bases (
	pod text COLLATE "C" PRIMARY KEY REFERENCES heads,
	seq bigint NOT NULL,
	fold bytea NOT NULL
);
CREATE TABLE trash (
	pod text COLLATE "C" PRIMARY KEY REFERENCES heads,
	at bigint NOT NULL,
	at_nanos int NOT NULL,
	deleted_with text COLLATE "C" NOT NULL
);
CREATE TABLE images (digest bytea PRIMARY KEY, data bytea NOT NULL);
ALTER TABLE images ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE image_uses (
	log text COLLATE "C",
	seq bigint,
	digest bytea REFERENCES images,
	PRIMARY KEY (log, seq, digest)
);
CREATE INDEX ON image_uses (digest);
-- The sequence of the last alert.
CREATE TABLE alert_head (one boolean PRIMARY KEY DEFAULT true CHECK (one), last bigint NOT NULL);
INSERT INTO alert_head (last) VALUES (0);
-- body is a sealed podd.v1.Alert that is not acknowledged; chain is the same for equal alerts.
CREATE TABLE alerts (
	seq bigint PRIMARY KEY,
	pod text COLLATE "C" NOT NULL,
	chain bytea NOT NULL,
	acked boolean NOT NULL DEFAULT false,
	body bytea NOT NULL
);
CREATE INDEX ON alerts (pod, seq);
CREATE INDEX ON alerts (chain, seq);
-- The next sequence of an alert that was raised again.
CREATE TABLE moved (seq bigint PRIMARY KEY, next bigint NOT NULL);
