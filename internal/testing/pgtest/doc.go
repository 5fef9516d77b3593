// Package pgtest runs a PostgreSQL server of its own for tests: a new data directory, a Unix
// socket, the settings that podd demands. It takes the programs from $PODD_PG_BIN, from
// `pg_config --bindir` or, the newest, from /usr/lib/postgresql.
package pgtest
