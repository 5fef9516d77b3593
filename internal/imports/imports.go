// Package imports makes pods of sessions that other agents stored. A client reads their files, which are the person's, and
// sends what they say: package sessions. The pod's log says where each item is from: an entry of the wing names the session,
// and one in each turn the records of its items, in their order.
//
// The log is one that podd could have written: a prompt is a submit, each call has its result right after its answer, ids
// are unique and fit all endpoints. So all that podd does with a log it does with this one. Nothing of it was billed.
//
// The pod's id follows from the session, so that the store refuses to import one twice.
package imports

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc"

	"podd/internal/podname"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// The names of the wing and of its kinds of entries. They are in logs, so they never change.
const (
	wing        = "imports"
	kindSession = "session"
	kindRecords = "records"
)

// The bounds of a session, and of how many are in memory at once.
const (
	maxItems = 100_000
	maxBytes = 128 << 20
	atOnce   = 2
)

// Config is what the wing needs.
type Config struct {
	Host *pod.Host
	// Redactor removes secrets from texts.
	Redactor tool.Redactor
}

// Imports is the wing.
type Imports struct {
	poddv1.UnimplementedImportServiceServer
	host   *pod.Host
	limits *tool.Limits
	// busy has an element for each session that is being imported.
	busy chan struct{}
}

// Open opens the wing.
func Open(c Config) *Imports {
	// Requests bound results by podd's own limits, whatever is stored.
	limits, err := tool.NewLimits(tool.LimitsConfig{
		Default: tool.Limit{MaxBytes: 256 << 10, MaxLines: 10_000}, MaxResultBytes: 257 << 10, Redactor: c.Redactor,
	})
	if err != nil {
		panic(err) // These limits are valid.
	}
	return &Imports{host: c.Host, limits: limits, busy: make(chan struct{}, atOnce)}
}

// Register serves ImportService.
func (w *Imports) Register(g grpc.ServiceRegistrar) { poddv1.RegisterImportServiceServer(g, w) }

// origin is the data of a pod's first entry.
type origin struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	File    string `json:"file"`
	Dir     string `json:"dir"`
	// Digest is that of the records, Items counts them.
	Digest string `json:"digest"`
	Items  int    `json:"items"`
}

// ImportSession creates a pod of a session, unless there is one.
func (w *Imports) ImportSession(stream grpc.ClientStreamingServer[poddv1.ImportSessionRequest, poddv1.ImportSessionResponse]) error {
	select {
	case w.busy <- struct{}{}:
		defer func() { <-w.busy }()
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
	session, items, err := receive(stream)
	if err != nil {
		return err
	}
	answer, err := w.answer(stream.Context(), session, items)
	if err != nil {
		return err
	}
	return stream.SendAndClose(answer)
}

// receive reads a session.
func receive(stream grpc.ClientStreamingServer[poddv1.ImportSessionRequest, poddv1.ImportSessionResponse]) (*poddv1.ImportedSession, []*poddv1.ImportedItem, error) {
	first, err := stream.Recv()
	if err != nil {
		return nil, nil, err
	}
	session := first.GetSession()
	if session.GetAgent() == "" || session.GetId() == "" {
		return nil, nil, item.Errorf(item.KindInvalid, "NO_SESSION", "the first message names no agent and session")
	}
	var items []*poddv1.ImportedItem
	for bytes := 0; ; {
		r, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && len(items) == 0:
			return nil, nil, item.Errorf(item.KindInvalid, "EMPTY_SESSION", "the session %s has no messages", session.GetId())
		case errors.Is(err, io.EOF):
			return session, items, nil
		case err != nil:
			return nil, nil, err
		}
		it := r.GetItem()
		bytes += len(it.GetRecord()) + size(it)
		if len(items) == maxItems || bytes > maxBytes {
			return nil, nil, item.Errorf(item.KindInvalid, "SESSION_TOO_LARGE",
				"the session %s is too large: podd imports at most %d items with %d MiB", session.GetId(), maxItems, maxBytes>>20)
		}
		items = append(items, it)
	}
}

// size is about how many bytes an item has.
func size(it *poddv1.ImportedItem) (n int) {
	i := it.GetItem()
	for _, image := range it.GetImages() {
		n += len(image)
	}
	return n + len(i.GetUserMessage().GetText()) + len(i.GetSystemMessage().GetText()) + len(i.GetAssistantMessage().GetText()) +
		len(i.GetToolCall().GetArguments()) + len(i.GetToolResult().GetContent())
}

// answer imports a session that is not a pod yet.
func (w *Imports) answer(ctx context.Context, session *poddv1.ImportedSession, items []*poddv1.ImportedItem) (*poddv1.ImportSessionResponse, error) {
	from := origin{
		Agent: w.clean(session.GetAgent()), Session: w.clean(session.GetId()), File: w.clean(session.GetFile()),
		Dir: session.GetDir(), Digest: digest(items), Items: len(items),
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{session.GetAgent(), session.GetId(), session.GetName()}, "\x00")))
	id := item.PodIDPrefix + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
	if known, err := w.known(ctx, id, from); known != nil || err != nil {
		return known, err
	}
	p, built, err := w.create(ctx, id, session.GetDir(), session, from, items)
	if built == nil && session.GetElseDir() != "" {
		p, built, err = w.create(ctx, id, session.GetElseDir(), session, from, items)
	}
	if err != nil {
		return nil, w.explained(ctx, id, err)
	}
	return &poddv1.ImportSessionResponse{
		Pod: wire.PodToProto(p), Messages: int32(built.messages), Calls: int32(built.calls), Results: int32(built.answers),
		Closed: int32(built.closed), LeftOut: int32(built.leftOut),
	}, nil
}

// clean is a text of a session in one line, without secrets.
func (w *Imports) clean(text string) string { return w.limits.Redact(sanitize.Line(text)) }

// digest identifies the items: a session that has grown has another.
func digest(items []*poddv1.ImportedItem) string {
	h := sha256.New()
	for _, it := range items {
		fmt.Fprintf(h, "%q %T\n", it.GetRecord(), it.GetItem().GetKind())
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// known is the answer if the session is a pod already; nil if it is none.
func (w *Imports) known(ctx context.Context, id string, from origin) (*poddv1.ImportSessionResponse, error) {
	p, err := w.host.Get(ctx, id)
	if item.ReasonOf(err) == store.ReasonPodNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for e, err := range w.host.Logs.Wing(ctx, id, wing) {
		if err != nil {
			return nil, err
		}
		var was origin
		if k, _ := e.Kind.(item.WingEntry); k.Name != kindSession || json.Unmarshal([]byte(k.Data), &was) != nil || was.Digest == from.Digest {
			break // Nothing is known any more of a session whose beginning a purge removed.
		}
		return nil, item.Errorf(item.KindExists, "SESSION_CHANGED",
			"the session %s was imported as pod %s with %d items and has %d now: delete the pod, or import the session again with --as NAME", from.Session, p.Name, was.Items, from.Items)
	}
	return &poddv1.ImportSessionResponse{Pod: wire.PodToProto(p), Known: true}, nil
}

// explained says what to do about a session whose pod was deleted.
func (w *Imports) explained(ctx context.Context, id string, refused error) error {
	if item.ReasonOf(refused) != store.ReasonPodExists {
		return refused
	}
	trashed, err := w.host.Store.TrashedPods(ctx)
	for _, t := range trashed {
		if t.ID == id && err == nil {
			return item.Errorf(item.KindExists, "SESSION_DELETED", "the pod %s of this session was deleted: podctl restore %s, or import the session again with --as NAME", t.Name, t.Name)
		}
	}
	return refused
}

// maxNames bounds the search for a free name.
const maxNames = 1000

// create creates the pod in a directory, under the first free name. Without a built log there is no such directory.
func (w *Imports) create(ctx context.Context, id, dir string, session *poddv1.ImportedSession, from origin, items []*poddv1.ImportedItem) (p item.Pod, b *builder, err error) {
	name := session.GetName()
	if name == "" {
		name = nameFor(session)
	}
	if info, err := pod.Visit(ctx, w.host, dir, func() (os.FileInfo, error) { return os.Stat(dir) }); err != nil || !info.IsDir() {
		return p, nil, item.Errorf(item.KindInvalid, "BAD_DIR", "the directory %s does not exist: name another one with --dir", dir)
	}
	b = newBuilder(w.limits, dir)
	b.build(from, items)
	for n := 1; ; n++ {
		as := podname.Numbered(name, n)
		p, err = w.host.Import(ctx, id, as, item.PodSpec{Dir: dir}, b.entries)
		if item.ReasonOf(err) != store.ReasonPodExists || session.GetName() != "" || n == maxNames {
			return p, b, err
		}
		if _, err := w.host.Get(ctx, as); err != nil {
			return p, b, err // The id is taken, not the name.
		}
	}
}

// nameFor is a name for the pod of a session, of the first words of its title.
func nameFor(session *poddv1.ImportedSession) string {
	words := strings.FieldsFunc(strings.ToLower(session.GetTitle()), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	name := ""
	for _, word := range words {
		if len(name)+len(word) > 40 {
			break
		}
		name = strings.TrimPrefix(name+"-"+word, "-")
	}
	if name == "" {
		name = session.GetAgent() + "-" + session.GetId()
	}
	return podname.For(name)
}

// stamp is a time for the data of an entry; empty for none.
func stamp(t time.Time) string {
	if t.Unix() <= 0 {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
