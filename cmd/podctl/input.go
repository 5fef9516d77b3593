package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"podd/internal/clients/tty"
	"podd/pkg/client"
	"podd/pkg/item"
)

// inputPatience is how long podctl waits for standard input before it says so.
const inputPatience = 2 * time.Second

// inputFlag adds the flag that leaves standard input alone.
func inputFlag(cmd *cobra.Command, without *bool) {
	cmd.Flags().BoolVar(without, "no-stdin", false, "do not read standard input")
}

// input is the content of a prompt or a note: TEXT as typed, and standard input as a
// paste, in the place of the argument "-" or, if it is a pipe or a file, after TEXT. args
// are the words of TEXT, the last of cmd's arguments; more comes after them; what names the
// content in errors.
func (p *program) input(cmd *cobra.Command, args []string, what string, without bool, more ...item.Segment) (list []item.Segment, err error) {
	dash, err := dashAt(cmd, args)
	if err != nil {
		return nil, err
	}
	if dash >= 0 && without {
		return nil, usagef("- and --no-stdin cannot be used together")
	}
	before, after, read := args, []string(nil), ""
	switch {
	case dash >= 0:
		before, after = args[:dash], args[dash+1:]
		read, err = p.readInput(cmd.Context())
	case !without && fed(p.stdin):
		read, err = p.readInput(cmd.Context())
	case len(args) == 0 && len(more) == 0:
		err = usagef("the %s is empty: give TEXT, pipe it in, or use - to type it", what)
	}
	if err != nil {
		return nil, err
	}
	typed := func(words []string) {
		if text := strings.Join(words, " "); strings.TrimSpace(text) != "" {
			list = append(list, item.TextSegment{Text: validFrom(p.stderr, "TEXT", text)})
		}
	}
	typed(before)
	if strings.TrimSpace(read) != "" {
		list = append(list, item.PasteSegment{Text: read})
	}
	typed(after)
	if list = append(list, more...); len(list) == 0 {
		return nil, usagef("the %s is empty: give it some text", what)
	}
	for i, s := range list {
		if paste, ok := s.(item.PasteSegment); ok && len(list) > 1 {
			paste.Name = "stdin" // So that the model can distinguish it from TEXT.
			list[i] = paste
		}
	}
	return list, nil
}

// dashAt is the index of the argument "-", which means standard input; -1 without one.
// After -- a dash is text.
func dashAt(cmd *cobra.Command, args []string) (int, error) {
	until := len(args)
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		until = max(at+len(args)-cmd.Flags().NArg(), 0)
	}
	found := -1
	for i, arg := range args[:until] {
		switch {
		case arg != "-":
		case found >= 0:
			return -1, usagef("- reads standard input and can be given only once; put -- before a dash that is text")
		default:
			found = i
		}
	}
	return found, nil
}

// fed says whether standard input is a pipe or a file. A terminal waits for a person to
// type, and a device or a socket may never end.
func fed(stdin io.Reader) bool {
	file, ok := stdin.(*os.File)
	if !ok {
		return true
	}
	info, err := file.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0)
}

// readInput reads standard input to its end, and says so when it waits long for input.
func (p *program) readInput(ctx context.Context) (string, error) {
	in := p.stdin
	if file, ok := p.stdin.(*os.File); ok {
		// A read of a regular file does not block.
		in = awaited{ctx, file}
	}
	_, typing := terminal(p.stdin)
	silent := time.AfterFunc(cmp.Or(p.patience, inputPatience), func() {
		if typing {
			return
		}
		fmt.Fprintln(p.stderr, "waiting for standard input; use --no-stdin to skip it")
	})
	defer silent.Stop()
	raw, err := io.ReadAll(io.LimitReader(heard{in, silent}, client.MaxRequestBytes+1))
	switch {
	case ctx.Err() != nil:
		return "", interrupted("interrupted: nothing was sent")
	case err != nil:
		return "", fmt.Errorf("cannot read standard input: %w", err)
	case len(raw) > client.MaxRequestBytes:
		return "", item.Errorf(item.KindExhausted, "MESSAGE_TOO_LARGE",
			"standard input is larger than %d MiB: put it in a file and refer to it with @path", client.MaxRequestBytes>>20)
	case strings.ContainsRune(string(raw), 0):
		return "", usagef("standard input contains NUL bytes, so it is not text: put it in a file and name the path in the prompt")
	}
	return strings.TrimRight(validFrom(p.stderr, "standard input", string(raw)), "\r\n"), nil
}

// validFrom is text that a message can carry. It warns if what had other bytes.
func validFrom(stderr io.Writer, what, text string) string {
	if !utf8.ValidString(text) {
		fmt.Fprintf(stderr, "! %s is not valid UTF-8; invalid bytes were replaced with U+FFFD\n", what)
	}
	return valid(text)
}

// awaited reads a file, and ends with ctx.
type awaited struct {
	ctx  context.Context
	file *os.File
}

func (a awaited) Read(p []byte) (int, error) {
	if err := tty.Await(a.ctx, int(a.file.Fd())); err != nil {
		return 0, err
	}
	return a.file.Read(p)
}

// heard stops a timer once there is something to read.
type heard struct {
	io.Reader
	silent *time.Timer
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.silent.Stop()
	return n, err
}

// readImages reads the files of --image. podd looks whether they are images.
func readImages(paths []string) (list []item.Segment, err error) {
	if len(paths) > item.MaxImages {
		return nil, usagef("a prompt can have at most %d images", item.MaxImages)
	}
	room := int64(item.MaxImagesBytes)
	for _, path := range paths {
		data, err := readImage(path, room)
		if err != nil {
			return nil, err
		}
		room -= int64(len(data))
		list = append(list, item.ImageSegment{Image: item.Image{Name: valid(filepath.Base(path)), Data: data}})
	}
	return list, nil
}

// readImage reads a file of at most room bytes.
func readImage(path string, room int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, cannotRead(path, err)
	case info.IsDir():
		return nil, usagef("cannot read image %q: it is a directory", path)
	case info.Mode().IsRegular() && info.Size() > room:
		return nil, usagef("image %q is too large: the images of a prompt can have %d MiB together", path, item.MaxImagesBytes>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, room+1))
	switch {
	case err != nil:
		return nil, cannotRead(path, err)
	case int64(len(data)) > room:
		return nil, usagef("image %q is too large: the images of a prompt can have %d MiB together", path, item.MaxImagesBytes>>20)
	case len(data) == 0:
		return nil, usagef("image %q is empty", path)
	}
	return data, nil
}

func cannotRead(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("cannot read image %q: %w", path, err)
}
