package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// hostileText sets the title, writes the clipboard, moves the cursor, reverses text and
// hides it: with a terminal escape of each family, in C1, and as characters.
const hostileText = "a\x1b]52;c;aGk=\x07\x1b[2J\x1bPq\x1b\\\u009b31m\u009d0;x\u009c\r\x08\x7f\u202e\u2066\u200b\ufeff\U000e0041\u2028b"

// hostile is a podd that answers every call with such text in every field. Of mutually
// exclusive fields it sets another one in each variant.
type hostile struct{ variant int }

// variants is the largest number of mutually exclusive fields.
const variants = 40

func (h hostile) serve(_ any, stream grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(stream)
	full := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(name, "/"), "/", "."))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(full)
	if err != nil {
		return status.Error(codes.Unimplemented, hostileText)
	}
	method := found.(protoreflect.MethodDescriptor)
	if err := stream.RecvMsg(dynamicpb.NewMessage(method.Input())); err != nil {
		return err
	}
	if h.variant < 0 {
		return hostileError()
	}
	if !method.IsStreamingServer() {
		return stream.SendMsg(h.message(method.Output()))
	}
	for v := range variants {
		for inner := range variants {
			if err := stream.SendMsg(hostile{v + variants*inner}.message(method.Output())); err != nil {
				return err
			}
			if v > 0 && inner > 0 {
				break
			}
		}
	}
	return hostileError()
}

func hostileError() error {
	st, err := status.New(codes.FailedPrecondition, hostileText).WithDetails(&errdetails.ErrorInfo{
		Reason: hostileText, Domain: "podd", Metadata: map[string]string{hostileText: hostileText},
	})
	return errors.Join(err, st.Err())
}

func (h hostile) message(d protoreflect.MessageDescriptor) proto.Message {
	m := dynamicpb.NewMessage(d)
	h.fill(m, 0)
	return m
}

func (h hostile) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if one := f.ContainingOneof(); one != nil && !one.IsSynthetic() {
			pick := h.variant
			if depth > 1 {
				pick /= variants
			}
			if one.Fields().Get(pick%one.Fields().Len()) != f {
				continue
			}
		}
		switch {
		case f.IsMap() || depth > 8:
		case f.IsList():
			list := m.Mutable(f).List()
			if f.Message() != nil {
				h.fill(list.AppendMutable().Message(), depth+1)
			} else {
				list.Append(h.value(f))
			}
		case f.Message() != nil:
			h.fill(m.Mutable(f).Message(), depth+1)
		default:
			m.Set(f, h.value(f))
		}
	}
}

func (h hostile) value(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(hostileText)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(hostileText))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(h.variant%2 == 0)
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get((h.variant + 1) % values.Len()).Number())
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(0.5)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(h.variant))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(h.variant))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(h.variant))
	}
	return protoreflect.ValueOfInt64(int64(h.variant))
}

// Whatever a podd answers to any verb, in text and in JSON, nothing in it controls the
// terminal or hides.
func TestHostilePodd(t *testing.T) {
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "client.token"), []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	verbs := map[string][]string{
		"submit": {"-p", "p", "hello @x"}, "list": {}, "status": {}, "version": {}, "alerts": {}, "completion": {"bash"}, "try": {"--check", "true", "hello"},
	}
	for variant := -1; variant < 2; variant++ {
		socket := serveHostile(t, dir, hostile{variant})
		for _, verb := range newRootCommand(&program{}).Commands() {
			args := append([]string{verb.Name()}, "p", "1")
			if known, ok := verbs[verb.Name()]; ok {
				args = append([]string{verb.Name()}, known...)
			} else if verb.Args == nil || verb.Args(verb, []string{"p", "1"}) != nil {
				args = args[:2]
			}
			forms := [][]string{{}, {"-o", "json"}}
			if variant == 0 { // The streams include all variants.
				forms = append(forms, []string{"-f"}, []string{"--deltas", "-f"})
			}
			for _, more := range forms {
				if verb.Name() == "context" && len(more) > 0 {
					continue // It is byte for byte when it is not a terminal; see TestBodyFor.
				}
				safeRun(t, append(append(args, more...), "--socket", socket, "--state-dir", dir))
			}
		}
		safeRun(t, []string{"alerts", "ack", "1", "--socket", socket})
		safeRun(t, []string{hostileText, hostileText, "--socket", socket})
		safeRun(t, []string{"show", "--" + hostileText, "--socket", socket})
		safeRun(t, []string{"list", "-o", hostileText, "--socket", socket})
		safeRun(t, []string{"show", hostileText, "--socket", dir + hostileText})
	}
}

func serveHostile(t *testing.T, dir string, h hostile) (socket string) {
	t.Helper()
	socket = filepath.Join(dir, fmt.Sprint("s", h.variant))
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(h.serve))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-served })
	return socket
}

// safeRun runs podctl and checks its output.
func safeRun(t *testing.T, args []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var out, stderr bytes.Buffer
	run(ctx, args, program{
		stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: func(string) string { return "" }, now: time.Now, every: time.Millisecond,
	})
	for name, text := range map[string]string{"standard output": out.String(), "standard error": stderr.String()} {
		for _, r := range text {
			if r != '\n' && r != '\t' && strings.ContainsRune(hostileText, r) && r != 'a' && r != 'b' && (r < 0x20 || r > 0x7e) {
				t.Errorf("podctl %q: %U reaches %s", args[:max(0, len(args)-4)], r, name)
				break
			}
		}
	}
}

// A program gets a request's body byte for byte, and a person in a harmless form.
func TestBodyFor(t *testing.T) {
	body := []byte("{\"text\":\"\u202e\u009b31m\"}")
	if got := bodyFor(false, body); !bytes.Equal(got, body) {
		t.Errorf("a program gets %q", got)
	}
	if got := string(bodyFor(true, body)); got != `{"text":"\u202e\u009b31m"}` {
		t.Errorf("a terminal gets %q", got)
	}
	if got := bodyFor(true, []byte(hostileText)); bytes.ContainsAny(got, "\x1b\u202e\u009b\r") {
		t.Errorf("a terminal gets %q", got)
	}
}
