package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// Finding is a problem in a database.
type Finding struct {
	// Text is one sentence.
	Text string
	// Fatal says that the database can't be used as it is; any other finding affects only one
	// pod or one alert.
	Fatal bool
	// Harmless says that nothing is lost and nothing needs to be done.
	Harmless bool
}

// maxFindings bounds what a check reports.
const maxFindings = 100

// CheckFile looks for damage in a database that is not open, and changes nothing. A quick
// check opens it and reads the last entry of each log, a full check reads everything. A
// damaged file may crash the process, so run CheckFile in a process of its own. The error is
// that of ctx, or says why the file could not be checked, which does not mean that it is damaged.
func CheckFile(ctx context.Context, path string, quick bool) ([]Finding, error) {
	c := checker{ctx: ctx, quick: quick}
	if err := c.file(path); err != nil && !errors.Is(err, errEnough) {
		if ctx.Err() != nil {
			return c.found, ctx.Err()
		}
		if !damaged(path, err) {
			return nil, err
		}
		c.fatal("%s", err.Error())
	}
	if slices.ContainsFunc(c.found, func(f Finding) bool { return !f.Harmless }) {
		if err := Readable(path); err != nil {
			return nil, err
		}
	}
	return c.found, nil
}

// damaged distinguishes damage from other reasons why podd cannot use a file.
func damaged(path string, err error) bool {
	size, _ := fileSize(path)
	return item.ReasonOf(err) == ReasonUnreadable && !IsForeign(err) && size > 0
}

var errEnough = errors.New("more than enough was found")

// checker checks one database.
type checker struct {
	ctx   context.Context
	quick bool
	found []Finding
}

func (c *checker) fatal(format string, args ...any) {
	c.found = append(c.found, Finding{Text: fmt.Sprintf(format, args...), Fatal: true})
}

func (c *checker) note(format string, args ...any) {
	c.found = append(c.found, Finding{Text: fmt.Sprintf(format, args...)})
}

func (c *checker) harmless(format string, args ...any) {
	c.found = append(c.found, Finding{Text: fmt.Sprintf(format, args...), Harmless: true})
}

// goOn returns an error if the check must end.
func (c *checker) goOn() error {
	if len(c.found) >= maxFindings {
		return errEnough
	}
	return c.ctx.Err()
}

func (c *checker) file(path string) error {
	return withFile(path, func(db *bbolt.DB, at, newest uint32) error {
		if !c.quick {
			if err := c.pages(db); err != nil {
				return err
			}
		}
		if at < newest {
			// An older schema is checked by the podd that wrote it, or after the migration.
			return nil
		}
		return c.content(db)
	})
}

// pages checks the tree itself.
func (c *checker) pages(db *bbolt.DB) error {
	return guard(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				if len(c.found) < maxFindings {
					c.fatal("the pages of the file contradict each other: %v", err)
				}
			}
			return c.goOn()
		})
	})
}

// content checks the stored data. A transaction for each part is enough, since there is no
// writer.
func (c *checker) content(db *bbolt.DB) error {
	parts := []func(tx *bbolt.Tx) error{c.pods}
	if !c.quick {
		parts = append(parts, c.names, c.requests, c.alerts, c.shares, c.trash, c.bases, c.images, c.imageUses)
	}
	for _, part := range parts {
		err := guard(func() error { return db.View(part) })
		if isFault(err) {
			c.fatal("cannot read pages that all pods share: restore a backup")
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sentence is an error as a finding.
func (c *checker) sentence(err error) { c.note("%s", err.Error()) }
