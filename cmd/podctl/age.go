package main

import (
	"context"
	"errors"
	"fmt"

	"podd/pkg/item"
	"podd/pkg/version"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// age says in one sentence that podd and podctl have different API levels, and what to
// do; empty when the levels are equal.
func age(s *poddv1.GetStatusResponse) string {
	mine, theirs := wire.APILevel(), s.GetApiLevel()
	both := fmt.Sprintf("podd is %s, podctl is %s", s.GetVersion(), version.String())
	switch {
	case theirs < mine:
		return "podd is older than podctl; restart podd to get the new features (" + both + ")"
	case theirs > mine:
		return "podd is newer than podctl; update podctl to see the new features (" + both + ")"
	}
	return ""
}

// explainAge replaces the error of a call that podd does not know when podd is older
// than podctl.
func (p *program) explainAge(ctx context.Context, err error) error {
	e, ok := errors.AsType[*item.Error](err)
	if !ok || e.Kind != item.KindUnimplemented {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	status, asked := p.status(ctx)
	if asked != nil || status.GetApiLevel() >= wire.APILevel() {
		return err
	}
	older := item.Errorf(e.Kind, e.Reason, "podd %s is older than podctl %s and does not support this: install the newer podd and restart it",
		status.GetVersion(), version.String())
	older.Cause = err
	return older
}
