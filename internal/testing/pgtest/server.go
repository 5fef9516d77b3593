package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing says that PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is not installed: install the Debian package postgresql, or set PODD_PG_BIN")

// Server is a PostgreSQL server.
type Server struct {
	bin, dir string
	as       *syscall.SysProcAttr
	settings []string
	env      []string
	cmd      *exec.Cmd
	ended    chan struct{}
}

// Start makes a data directory below dir and starts a server on it. settings are further ones,
// as name=value. The directory must allow the user of the server to enter; root starts it as
// the user postgres.
func Start(ctx context.Context, dir string, settings ...string) (*Server, error) {
	return StartIn(ctx, dir, nil, settings...)
}

// StartIn is Start with more variables in the environment of the server.
func StartIn(ctx context.Context, dir string, env []string, settings ...string) (*Server, error) {
	bin, err := Binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir, settings: settings, env: env, as: &syscall.SysProcAttr{}}
	if err := s.own(); err != nil {
		return nil, err
	}
	init := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", s.data(), "-U", "podd", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	init.SysProcAttr, init.Dir = s.as, dir
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, s.Up(ctx)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// own gives the directory to the user of the server.
func (s *Server) own() error {
	withUs(s.as)
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("root cannot run PostgreSQL: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	s.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, uid, gid)
}

// Up starts the server and waits until it answers.
func (s *Server) Up(ctx context.Context) error {
	args := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses="}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr, cmd.Dir = log, log, s.as, s.dir
	cmd.Env = append(os.Environ(), s.env...)
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.ended = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(s.ended)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ready := exec.CommandContext(ctx, filepath.Join(s.bin, "pg_isready"), "-q", "-h", s.dir)
		if ready.Run() == nil {
			return nil
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("PostgreSQL did not start:\n%s", text)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// URL is the connection string of the database that each server has.
func (s *Server) URL() string {
	q := url.Values{"host": {s.dir}, "user": {"podd"}}
	return "postgres:///postgres?" + q.Encode()
}

// Run runs a statement, with psql.
func (s *Server) Run(ctx context.Context, sql string) error {
	_, err := s.Query(ctx, "postgres", sql)
	return err
}

// Query runs statements in one transaction of a database, with psql. It returns the values, a row a line.
func (s *Server) Query(ctx context.Context, database, sql string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", s.dir, "-U", "podd", "-d", database, "-c", sql)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("psql: %w\n%s", err, &failed)
	}
	return out, nil
}

// Socket is the Unix socket of the server.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Dial connects to the server, for a proxy.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", s.Socket())
}

// Stop ends the server: in order, or at once, as a crash would.
func (s *Server) Stop(atOnce bool) {
	signal := syscall.SIGINT
	if atOnce {
		signal = syscall.SIGQUIT
	}
	_ = s.cmd.Process.Signal(signal)
	<-s.ended
}

// Binaries is the directory of the programs of PostgreSQL; ErrMissing without them.
func Binaries() (string, error) {
	if dir := os.Getenv("PODD_PG_BIN"); dir != "" {
		return dir, nil
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		if dir := strings.TrimSpace(string(out)); has(dir) {
			return dir, nil
		}
	}
	newest, best := "", 0
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, dir := range dirs {
		if n, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && n > best && has(dir) {
			newest, best = dir, n
		}
	}
	if newest == "" {
		return "", ErrMissing
	}
	return newest, nil
}

func has(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "postgres"))
	return err == nil
}
