package main

import (
	"context"
	"errors"
	"fmt"

	"podd/internal/version"
	"podd/internal/wire"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// age says in one sentence that podd and podctl are not of the same age, and what helps;
// empty when they know the same API.
func age(s *poddv1.GetStatusResponse) string {
	mine, theirs := wire.APILevel(), s.GetApiLevel()
	both := fmt.Sprintf("podd is %s, podctl is %s", s.GetVersion(), version.String())
	switch {
	case theirs < mine:
		return "podd is older than podctl: restart podd to use what is new (" + both + ")"
	case theirs > mine:
		return "podd is newer than podctl: what is new in it does not show here (" + both + ")"
	}
	return ""
}

// explainAge says of a call that podd does not know that it is older, when it is.
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
	older := item.Errorf(e.Kind, e.Reason, "podd does not know this yet: it is %s, older than podctl, %s; restart podd with the newer one",
		status.GetVersion(), version.String())
	older.Cause = err
	return older
}
