package postgres

import "context"

// LockAgain takes the lock as after a broken connection of which the server knows nothing: the
// connection that has it stays open, but is not looked at any more.
func (s *Store) LockAgain(ctx context.Context) error {
	s.hold.cancel()
	s.hold.done.Wait()
	first, err := s.lock(ctx, 0)
	if err != nil {
		return err
	}
	defer first.Close(ctx)
	again, err := s.lock(ctx, first.PgConn().PID())
	if err != nil {
		return err
	}
	keep, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.hold.cancel = cancel
	s.hold.done.Go(func() { s.keep(keep, again) })
	return nil
}
