-- From version 1 to 2: movable pods.
ALTER TABLE nodes ADD COLUMN shares text[] NOT NULL DEFAULT '{}';
ALTER TABLE heads ADD COLUMN share text COLLATE "C" NOT NULL DEFAULT '',
	ADD COLUMN root text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX ON heads (place) WHERE share <> '';
CREATE INDEX ON heads (root);
UPDATE meta SET version = 2;
