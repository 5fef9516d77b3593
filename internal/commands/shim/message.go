package shim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"podd/internal/commands/process"
	"podd/pkg/tool/record"
)

// A request is a head, with the descriptors of output, record, lease and files, and a body: the
// words what, leased, dir, number of args, args and env, a NUL after each but the last. The head is the
// body's length and the number of descriptors, 4 bytes each, most significant byte first.
const headBytes = 8

// maxFiles is the largest number of descriptors in one message (SCM_MAX_FD of Linux).
const maxFiles = 253

// nul ends a word.
const nul = "\x00"

// Why a command cannot be sent, and why a received request is invalid.
var (
	errFiles   = fmt.Errorf("it needs more than %d open files", maxFiles-2)
	errNUL     = errors.New("its command line or environment has a NUL character")
	errDamaged = errors.New("a request is damaged")
)

// answer is what a shim says of a command: first its process or an error, then its
// status.
type answer struct {
	// Number is that of the request, counted from 1.
	Number  uint64      `json:"n"`
	Process *process.ID `json:"process,omitempty"`
	Error   string      `json:"error,omitempty"`
	// Lost stands for ErrLost.
	Lost bool `json:"lost,omitempty"`
	// Short says that input was typed, and that the command takes only Written bytes of it.
	Short bool `json:"short,omitempty"`
	// Untyped says that input was not typed.
	Untyped bool   `json:"untyped,omitempty"`
	Written int    `json:"written,omitempty"`
	Ended   bool   `json:"ended,omitempty"`
	Status  string `json:"status,omitempty"`
}

// err is why what was asked for was not done; nil for input that was typed.
func (a answer) err() error {
	switch {
	case a.Lost:
		return ErrLost
	case a.Short:
		return &ShortInputError{a.Written}
	case a.Untyped:
		return ErrUntyped
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// What a request asks for: to run a command, to run it in a terminal, or to type input into a
// terminal. The last has no descriptors; its other words are the mark of the command's tree, with
// a key and perhaps a question mark after it, and the input, which may have NULs. A shim types what
// has a key once. A question types nothing: it asks whether what has this key was typed.
const (
	askRun      = "run"
	askTerminal = "terminal"
	askInput    = "input"
)

// leased follows what a command that ends with a lease is asked for; its third descriptor is the lease.
const leased = "leased"

// encodeInput is a request to type input, or to say whether what has the key was typed.
func encodeInput(mark, key string, input []byte, asks bool) request {
	if key != "" {
		mark += " " + key
	}
	if asks {
		mark += " ?"
	}
	body := append([]byte(askInput+nul+mark+nul), input...)
	text := make([]byte, headBytes, headBytes+len(body))
	binary.BigEndian.PutUint32(text, uint32(len(body)))
	return request{text: append(text, body...)}
}

// request is a message in flight. The files must stay open until it is sent.
type request struct {
	text   []byte
	rights []byte
}

func encode(c Command) (request, error) {
	files := []*os.File{c.Output, c.Record.File()}
	what := []string{askRun, ""}
	if c.Lease != nil {
		files, what[1] = append(files, c.Lease.File()), leased
	}
	if c.Terminal {
		what[0] = askTerminal
	}
	files = append(files, c.Files...)
	if len(files) > maxFiles {
		return request{}, errFiles
	}
	words := append(append(append(what, c.Dir, strconv.Itoa(len(c.Args))), c.Args...), c.Env...)
	body := strings.Join(words, nul)
	if strings.Count(body, nul) != len(words)-1 {
		return request{}, errNUL
	}
	text := make([]byte, headBytes, headBytes+len(body))
	binary.BigEndian.PutUint32(text, uint32(len(body)))
	binary.BigEndian.PutUint32(text[4:], uint32(len(files)))
	fds := make([]int, len(files))
	for i, file := range files {
		fds[i] = int(file.Fd())
	}
	return request{append(text, body...), syscall.UnixRights(fds...)}, nil
}

func (r request) send(conn *net.UnixConn) error {
	n, _, err := conn.WriteMsgUnix(r.text, r.rights, nil)
	if err == nil && n < len(r.text) {
		_, err = conn.Write(r.text[n:])
	}
	return err
}

// asked is a request as it was received.
type asked struct {
	Command
	// lease is the file of the command's lease; nil without one.
	lease *os.File
	// mark is set for input instead of a Command. key may be empty; asks types nothing.
	mark, key string
	input     []byte
	asks      bool
}

// receive returns the next request, or io.EOF at the end. The caller closes its files.
func receive(conn *net.UnixConn) (r asked, err error) {
	head, rights := make([]byte, headBytes), make([]byte, syscall.CmsgSpace(4*maxFiles))
	n, m, _, _, err := conn.ReadMsgUnix(head, rights)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return asked{}, err
	}
	files, err := filesOf(rights[:m])
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	if err != nil {
		return asked{}, err
	}
	if _, err := io.ReadFull(conn, head[n:]); err != nil {
		return asked{}, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head))
	if _, err := io.ReadFull(conn, body); err != nil {
		return asked{}, err
	}
	if len(files) != int(binary.BigEndian.Uint32(head[4:])) {
		return asked{}, errDamaged
	}
	return decode(string(body), files)
}

// decode is the request that a body stands for.
func decode(body string, files []*os.File) (asked, error) {
	what, rest, _ := strings.Cut(body, nul)
	if what == askInput {
		words, input, ok := strings.Cut(rest, nul)
		mark, key, _ := strings.Cut(words, " ")
		key, question, asks := strings.Cut(key, " ")
		if !ok || mark == "" || len(files) > 0 || asks && (question != "?" || key == "") {
			return asked{}, errDamaged
		}
		return asked{mark: mark, key: key, input: []byte(input), asks: asks}, nil
	}
	how, rest, _ := strings.Cut(rest, nul)
	var lease *os.File
	if how == leased && len(files) > 2 {
		lease, files = files[2], slices.Concat(files[:2], files[3:])
	} else if how != "" {
		return asked{}, errDamaged
	}
	words := strings.Split(rest, nul)
	if len(words) < 2 || len(files) < 2 || what != askRun && what != askTerminal {
		return asked{}, errDamaged
	}
	count, err := strconv.Atoi(words[1])
	if err != nil || count < 1 || count > len(words)-2 {
		return asked{}, errDamaged
	}
	words, dir := words[2:], words[0]
	return asked{lease: lease, Command: Command{
		Args: words[:count], Env: words[count:], Dir: dir, Terminal: what == askTerminal,
		Output: files[0], Record: record.Of(files[1]), Files: files[2:],
	}}, nil
}

func filesOf(rights []byte) ([]*os.File, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, message := range messages {
		fds, err := syscall.ParseUnixRights(&message)
		if err != nil {
			return nil, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed on"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}
