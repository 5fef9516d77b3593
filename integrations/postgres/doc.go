//go:build integrations

// Package postgres runs podd with its store in a real PostgreSQL.
package postgres
