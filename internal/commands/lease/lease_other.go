//go:build !linux

package lease

import (
	"context"
	"errors"
	"os"
)

// errNotLinux is for systems that cannot end commands in time.
var errNotLinux = errors.New("leases of commands need Linux")

// Lease is always over.
type Lease struct{}

// Open works only on Linux.
func Open(string) (*Lease, error) { return nil, errNotLinux }

// Of works only on Linux.
func Of(file *os.File) (*Lease, error) { return nil, errors.Join(errNotLinux, file.Close()) }

// Replace does nothing.
func (l *Lease) Replace(string) error { return errNotLinux }

// File is none.
func (l *Lease) File() *os.File { return nil }

// Close does nothing.
func (l *Lease) Close() {}

// Renewing renews nothing.
func (l *Lease) Renewing() (renewed func() error) { return func() error { return errNotLinux } }

// Check is ErrOver.
func (l *Lease) Check() error { return ErrOver }

// Watch waits for nothing.
type Watch struct{}

// Watch is ErrOver.
func (l *Lease) Watch() (*Watch, error) { return nil, ErrOver }

// Close does nothing.
func (w *Watch) Close() {}

// Wait says that the lease is over.
func (w *Watch) Wait(<-chan struct{}) (over bool) { return true }

// Bind is ErrOver.
func (l *Lease) Bind(context.Context) (bound context.Context, release func(), err error) {
	return nil, nil, ErrOver
}
