package shim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"podd/internal/commands/process"
	"podd/pkg/tool/spool"
)

// A request is a head, with the descriptors of output, record and files, and a body: the
// words dir, number of args, args, env, each but the last followed by a NUL. The head is
// the body's length and the number of descriptors, 4 bytes each, the higher ones first.
const headBytes = 8

// maxFiles is how many descriptors can go with one message (SCM_MAX_FD of Linux).
const maxFiles = 253

// nul ends a word.
const nul = "\x00"

// Why a command cannot be passed on, and why what came is none.
var (
	errFiles   = fmt.Errorf("it needs more than %d open files", maxFiles-2)
	errNUL     = errors.New("its command line or environment has a NUL character")
	errDamaged = errors.New("a request is damaged")
)

// answer is what a shim says of a command: first its process, or an error, then its
// status.
type answer struct {
	// Number is that of the request, counted from 1.
	Number  uint64      `json:"n"`
	Process *process.ID `json:"process,omitempty"`
	Error   string      `json:"error,omitempty"`
	// Lost stands for ErrLost.
	Lost   bool   `json:"lost,omitempty"`
	Ended  bool   `json:"ended,omitempty"`
	Status string `json:"status,omitempty"`
}

// request is a message on its way. The files must stay open until it is sent.
type request struct {
	text   []byte
	rights []byte
}

func encode(c Command) (request, error) {
	files := append([]*os.File{c.Output, c.Record.File()}, c.Files...)
	if len(files) > maxFiles {
		return request{}, errFiles
	}
	words := append(append([]string{c.Dir, strconv.Itoa(len(c.Args))}, c.Args...), c.Env...)
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

// receive is the next command; io.EOF when there is none any more. The caller closes its
// files.
func receive(conn *net.UnixConn) (c Command, err error) {
	head, rights := make([]byte, headBytes), make([]byte, syscall.CmsgSpace(4*maxFiles))
	n, m, _, _, err := conn.ReadMsgUnix(head, rights)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return Command{}, err
	}
	files, err := filesOf(rights[:m])
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	if err != nil {
		return Command{}, err
	}
	if _, err := io.ReadFull(conn, head[n:]); err != nil {
		return Command{}, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head))
	if _, err := io.ReadFull(conn, body); err != nil {
		return Command{}, err
	}
	words := strings.Split(string(body), nul)
	if len(words) < 2 || len(files) < 2 || len(files) != int(binary.BigEndian.Uint32(head[4:])) {
		return Command{}, errDamaged
	}
	count, err := strconv.Atoi(words[1])
	if err != nil || count < 1 || count > len(words)-2 {
		return Command{}, errDamaged
	}
	words, dir := words[2:], words[0]
	return Command{
		Args: words[:count], Env: words[count:], Dir: dir,
		Output: files[0], Record: spool.HeldRecord(files[1]), Files: files[2:],
	}, nil
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
