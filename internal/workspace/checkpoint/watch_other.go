//go:build !linux

package checkpoint

import "errors"

// events do not exist here: each look reads everything.
type events struct{}

func newEvents() (events, error) { return events{}, errors.ErrUnsupported }

func (events) close() error                 { return nil }
func (events) add(string, int) error        { return errors.ErrUnsupported }
func (events) take(func(change) bool) error { return errors.ErrUnsupported }
