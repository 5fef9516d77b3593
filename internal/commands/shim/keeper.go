package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"podd/internal/commands/process"
)

// Keeper names a shim of its own for some commands. It listens on a socket, so that the next
// podd reaches it as long as a command of it runs.
type Keeper struct {
	// Path is the socket's. Commands must not reach it. Empty means no Keeper.
	Path string
	// Network gives the commands a network of their own that has the loopback alone.
	Network bool
}

// hello is what a keeper says first on each connection.
type hello struct {
	// Protocol is that of its requests.
	Protocol int  `json:"protocol"`
	Network  bool `json:"network"`
}

// protocol changes with the form of requests and answers.
const protocol = 2

// helloPatience is for how long podd waits for a keeper to say hello.
const helloPatience = 5 * time.Second

// kind tells shims apart. The limits of a keeper are those that it is started with.
type kind struct {
	limits process.Limits
	keeper Keeper
}

// setup is what a shim reads at its start.
type setup struct {
	Limits process.Limits `json:"limits"`
	// Keeps says that descriptor 4 is the socket of a keeper.
	Keeps   bool `json:"keeps,omitempty"`
	Network bool `json:"network,omitempty"`
}

// Keep starts a keeper, or finds the one of an earlier podd. It fails where
// the system does not allow a separate network.
func (c *Client) Keep(k Keeper, limits process.Limits) error {
	s, err := c.shim(k, limits)
	if err == nil {
		c.free(s)
	}
	return err
}

// greeted takes the hello of a keeper.
func (k Keeper) greeted(conn *net.UnixConn, answers *json.Decoder) error {
	_ = conn.SetReadDeadline(time.Now().Add(helloPatience))
	defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	var h hello
	switch err := answers.Decode(&h); {
	case err != nil:
		return fmt.Errorf("the process that starts commands does not answer: %w", err)
	case h.Protocol != protocol:
		return errors.New("the process that starts its commands is that of another version of podd")
	case h.Network != k.Network:
		return errors.New("the process that starts its commands has another network")
	}
	return nil
}

// reach connects to a keeper that runs.
func (k Keeper) reach() (*net.UnixConn, error) {
	var conn *net.UnixConn
	err := k.at(func(path string) (err error) {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	return conn, err
}

// listen creates the socket and replaces one without a listener.
func (k Keeper) listen() (*os.File, error) {
	var file *os.File
	err := k.at(func(path string) error {
		_ = os.Remove(path)
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			return err
		}
		defer l.Close()
		l.SetUnlinkOnClose(false)
		file, err = l.File()
		return err
	})
	return file, err
}

// at calls use with a short path of the socket: that of a socket must not be long.
func (k Keeper) at(use func(path string) error) error {
	dir, err := os.Open(filepath.Dir(k.Path))
	if err != nil {
		return err
	}
	defer dir.Close()
	short := filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())))
	if _, err := os.Stat(short); err != nil {
		return use(k.Path)
	}
	return use(filepath.Join(short, filepath.Base(k.Path)))
}
