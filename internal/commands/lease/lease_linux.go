package lease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wordBytes is the size of the file.
const wordBytes = 8

// Lease is a mapped file. Its methods may be called from any goroutine. A nil Lease is over.
type Lease struct {
	mu   sync.Mutex
	file *os.File
	// memory is nil once it is closed.
	memory []byte
}

// Open opens the file of this node. If there is none that can be used, it makes a new one, in
// which the lease is over; whoever has mapped the old one never sees it renewed. The caller has
// locked the directory.
func Open(path string) (*Lease, error) {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err == nil {
		if l, err := mapped(file, unix.PROT_READ|unix.PROT_WRITE); err == nil {
			return l, nil
		}
	}
	if file, err = create(path); err != nil {
		return nil, fmt.Errorf("cannot make %s: %w", path, err)
	}
	return mapped(file, unix.PROT_READ|unix.PROT_WRITE)
}

// create creates the file.
func create(path string) (*os.File, error) {
	name := path + ".new"
	_ = os.Remove(name)
	made, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = made.Truncate(wordBytes); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return nil, errors.Join(err, made.Close(), os.Remove(name))
	}
	return made, nil
}

// Of is the lease in an open file, only to be read. It takes the file.
func Of(file *os.File) (*Lease, error) { return mapped(file, unix.PROT_READ) }

func mapped(file *os.File, prot int) (*Lease, error) {
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != wordBytes) {
		err = fs.ErrInvalid
	}
	var memory []byte
	if err == nil {
		memory, err = unix.Mmap(int(file.Fd()), 0, wordBytes, prot, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot map %s: %w", file.Name(), err), file.Close())
	}
	return &Lease{file: file, memory: memory}, nil
}

// Replace creates a new file at its path, so commands of earlier starts never see a renewal.
func (l *Lease) Replace(path string) error {
	file, err := create(path)
	if err != nil {
		return fmt.Errorf("cannot make %s: %w", path, err)
	}
	made, err := mapped(file, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return err
	}
	l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file, l.memory = made.file, made.memory
	return nil
}

// File is what Of needs in another process.
func (l *Lease) File() *os.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file
}

// Close unmaps it: then it is over.
func (l *Lease) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.memory != nil {
		_ = unix.Munmap(l.memory)
		_ = l.file.Close()
		l.memory = nil
	}
}

// Renewing is called before a renewal is sent, and what it returns when the renewal has succeeded.
func (l *Lease) Renewing() (renewed func() error) {
	until := now() + For
	return func() error { return l.set(until) }
}

func (l *Lease) set(until time.Duration) error {
	write := func(word *uint64) { atomic.StoreUint64(word, uint64(until)) }
	err := l.use(write)
	if err == nil {
		return nil
	}
	// Somebody has cut it off.
	if err := l.File().Truncate(wordBytes); err != nil {
		return err
	}
	return l.use(write)
}

// Check is ErrOver once it is over.
func (l *Lease) Check() error {
	if l.left() <= 0 {
		return ErrOver
	}
	return nil
}

// left is how long it still lasts.
func (l *Lease) left() time.Duration {
	var until time.Duration
	if l == nil || l.use(func(word *uint64) { until = time.Duration(atomic.LoadUint64(word)) }) != nil {
		return 0
	}
	left := until - now()
	if left > For {
		return 0
	}
	return left
}

// use calls do with the word, which is gone if the file was cut off.
func (l *Lease) use(do func(word *uint64)) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.memory == nil {
		return fs.ErrClosed
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s was cut off", l.file.Name())
		}
	}()
	do((*uint64)(unsafe.Pointer(&l.memory[0])))
	return nil
}

// now is the time of CLOCK_BOOTTIME.
func now() time.Duration {
	var t unix.Timespec
	// Every Linux that Go runs on has this clock.
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return time.Duration(t.Nano())
}

// Watch waits for the end of the lease.
type Watch struct {
	lease *Lease
	// timer rings also when the machine wakes up after the deadline.
	timer *os.File
	fd    int
}

// Watch returns an error if it is over, or cannot be watched. Close must follow.
func (l *Lease) Watch() (*Watch, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("the lease of this node cannot be watched: %w", err)
	}
	return &Watch{lease: l, timer: os.NewFile(uintptr(fd), "lease"), fd: fd}, nil
}

// Close ends Wait, which then says that the lease is over.
func (w *Watch) Close() { _ = w.timer.Close() }

// Wait waits until the lease is over, or ended is closed, and says whether it is over.
func (w *Watch) Wait(ended <-chan struct{}) (over bool) {
	quit, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-ended:
			_ = w.timer.SetReadDeadline(time.Unix(1, 0))
		case <-quit:
		}
	}()
	defer func() {
		close(quit)
		<-left
	}()
	for {
		rest := w.lease.left()
		if rest <= 0 {
			return true
		}
		at := &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(now() + rest))}
		if err := unix.TimerfdSettime(w.fd, unix.TFD_TIMER_ABSTIME, at, nil); err != nil {
			return true
		}
		_, err := w.timer.Read(make([]byte, wordBytes))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false
		case err != nil:
			return true
		}
	}
}

// Bind is a context that ends with cause ErrOver when the lease does. The error is that of Watch.
func (l *Lease) Bind(ctx context.Context) (bound context.Context, release func(), err error) {
	w, err := l.Watch()
	if err != nil {
		return nil, nil, err
	}
	bound, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if w.Wait(bound.Done()) {
			cancel(ErrOver)
		}
	}()
	return bound, func() {
		cancel(nil)
		<-ended
		w.Close()
	}, nil
}
