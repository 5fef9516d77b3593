package checkout

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"podd/pkg/item"
)

// Fetch brings the commits of a checkout's branch into the source, where its reference then names
// them. moved says in a sentence that somebody moved the reference, which then stays; it says so
// once for each value.
func (all *Checkouts) Fetch(ctx context.Context, r *Record) (moved string, err error) {
	defer all.lock(r)()
	// Another call may have changed it.
	if r, err = load(r.place); err != nil {
		return "", err
	}
	moved, err = all.fetch(ctx, r)
	return moved, full(err)
}

func (all *Checkouts) fetch(ctx context.Context, r *Record) (moved string, err error) {
	tip, err := line(all.git(ctx, r.reading("rev-parse", "--quiet", "--verify", "refs/heads/"+r.Branch()+"^{commit}")))
	if err != nil {
		if failed, ok := errors.AsType[*failure](err); ok && failed.says == "" {
			return "", nil // The branch is gone: there is nothing to bring.
		}
		return "", err
	}
	if tip == r.Ref && r.Moved == "" {
		return "", nil
	}
	now, err := all.pinned(ctx, r)
	switch {
	case err != nil:
		return "", err
	case now == tip:
		r.Ref, r.Next, r.Moved = tip, "", ""
		return "", r.save()
	case now == "" || now != r.Ref && now != r.Next:
		return r.leave(now)
	}
	if err := all.carry(ctx, r, tip); err != nil {
		return "", err
	}
	if r.Next = tip; now == r.Base && r.Ref == "" {
		r.Ref = now
	}
	if err := r.save(); err != nil {
		return "", err
	}
	if _, err := all.git(ctx, r.changing("update-ref", "-m", "podd: work of pod "+r.Name, r.ref(), tip, now)); err != nil {
		return "", err
	}
	r.Ref, r.Next, r.Moved = tip, "", ""
	return "", r.save()
}

// leave leaves a reference that is not podd's any more.
func (r *Record) leave(now string) (moved string, err error) {
	value := now
	if now == "" {
		value = "gone"
	}
	if r.Moved == value {
		return "", nil
	}
	r.Moved = value
	if now == "" {
		moved = "somebody removed " + r.ref() + " of " + r.Source
	} else {
		moved = "somebody moved " + r.ref() + " of " + r.Source
	}
	moved += ": podd leaves it, and the new commits of branch " + r.Branch() + " are only in " + r.Dir() + "; git update-ref gives it its value " + r.Ref + " back"
	return moved, r.save()
}

// carry brings the objects of a commit of the checkout into the source. git packs them in a
// sandbox that can only read, and checks each one before it stores it.
func (all *Checkouts) carry(ctx context.Context, r *Record, tip string) error {
	has, err := all.refs(ctx, command{dir: r.Common, reads: r.Reads(), args: []string{}})
	if err != nil {
		return err
	}
	if slices.Contains(has, tip) {
		return nil
	}
	if err := os.MkdirAll(all.temp(), 0o700); err != nil {
		return err
	}
	pack, err := os.CreateTemp(all.temp(), "pack-")
	if err != nil {
		return err
	}
	defer func() { _, _ = pack.Close(), os.Remove(pack.Name()) }()
	send := r.reading("pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "--quiet")
	send.stdin, send.stdout = strings.NewReader(tip+"\n--not\n"+strings.Join(append(has, r.Base), "\n")+"\n"), pack
	if _, err := all.git(ctx, send); err != nil {
		return err
	}
	if _, err := pack.Seek(0, 0); err != nil {
		return err
	}
	take := r.changing("index-pack", "--stdin", "--fix-thin", "--strict")
	take.stdin = pack
	if _, err := all.git(ctx, take); err != nil {
		return refused(r, err)
	}
	// Everything that the commit needs must be there.
	whole := r.changing("rev-list", "--objects", "--quiet", tip, "--not", "--all")
	whole.writes = false
	if _, err := all.git(ctx, whole); err != nil {
		return refused(r, err)
	}
	return nil
}

// refused is the error of objects that git does not take.
func refused(r *Record, err error) error {
	failed, ok := errors.AsType[*failure](err)
	if !ok || isFull(err) {
		return err
	}
	return item.Errorf(item.KindPrecondition, "BAD_OBJECTS", "git refuses the commits of branch %s in %s: %v; nothing was brought into %s", r.Branch(), r.Dir(), failed, r.Source)
}
