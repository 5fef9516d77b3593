package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

const (
	// maxBody bounds a request.
	maxBody = 64 << 20
	// keptBytes bounds the requests kept for Requests and for the estimate of the cached
	// part; the oldest are dropped first.
	keptBytes = 64 << 20
	// lookedBack is how many of them are compared for the estimate.
	lookedBack = 16
	// maxAttempts bounds the memory of repeated requests.
	maxAttempts = 1 << 16
)

// Config says what a server answers, and where. It needs a Script or a Handler.
type Config struct {
	// Script answers, and names the models.
	Script *Script
	// Handler answers when there is no Script.
	Handler Handler
	// Models are listed, and others refused; an empty list means that "scripted" is listed
	// and any name is known. A Script's models take precedence.
	Models []string
	// Addr is where to listen; default 127.0.0.1:0, a free port of loopback.
	Addr string
	// Key is the API key that clients must send; empty requires none.
	Key string
	// Logger gets one debug line per request. Default: none.
	Logger *slog.Logger
}

// Server is a model endpoint. It is safe for use from many goroutines.
type Server struct {
	cfg  Config
	url  string
	http *http.Server
	wg   sync.WaitGroup
	seed maphash.Seed

	mu       sync.Mutex
	closed   bool
	kept     [][]byte
	keptSize int
	attempts map[uint64]int
}

// Serve starts a server; the caller must call Close.
func Serve(cfg Config) (*Server, error) {
	if cfg.Script != nil {
		cfg.Handler = cfg.Script.Reply
		cfg.Models = append(cfg.Script.Models(), cfg.Models...)
	}
	if cfg.Handler == nil {
		return nil, errors.New("the scripted model has neither a script nor a handler")
	}
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	l, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("the scripted model cannot listen at %s; choose another address: %w", cfg.Addr, err)
	}
	s := &Server{
		cfg:      cfg,
		url:      "http://" + l.Addr().String() + "/v1",
		seed:     maphash.MakeSeed(),
		attempts: map[uint64]int{},
	}
	s.start(l)
	return s, nil
}

func (s *Server) start(l net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.answer("chat"))
	mux.HandleFunc("POST /v1/responses", s.answer("responses"))
	mux.HandleFunc("POST /v1/messages", s.answer("messages"))
	mux.HandleFunc("GET /v1/models", s.models)
	s.http = &http.Server{
		Handler:  s.guard(mux),
		ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	s.wg.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Error("the scripted model stopped", "error", err)
		}
	})
}

// URL is the base URL, with its /v1.
func (s *Server) URL() string { return s.url }

// Close ends all answers and waits for them.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	// Closing a connection ends the context of its request.
	err := s.http.Close()
	s.wg.Wait()
	return err
}

// Requests are the bodies of the model requests received, in order; of very many only the
// newest.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept)
}

// guard waits for handlers at Close and checks the key.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.enter() {
			return
		}
		defer s.wg.Done()
		got, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if r.Header.Get("Anthropic-Version") != "" {
			got = r.Header.Get("X-Api-Key")
		}
		if s.cfg.Key != "" && got != s.cfg.Key {
			writeReply(w, apiOf(r), Fail(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.", 0))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// enter counts a request that Close has to wait for; false after Close.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wg.Add(1)
	}
	return !s.closed
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	ids := s.cfg.Models
	if len(ids) == 0 {
		ids = []string{"scripted"}
	}
	data := make([]map[string]any, len(ids))
	for i, id := range ids {
		data[i] = map[string]any{"id": id, "object": "model", "created": 0, "owned_by": "scripted", "type": "model"}
		if script := s.cfg.Script; script != nil && i < len(script.said) && script.said[i] != "" {
			_ = json.Unmarshal([]byte(script.said[i]), &data[i])
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(map[string]any{"object": "list", "data": data}))
}

// answer is the handler of one API.
func (s *Server) answer(api string) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, maxBody))
		if err != nil {
			writeReply(w, api, Fail(http.StatusRequestEntityTooLarge, "", "the request is too large", 0))
			return
		}
		attempt, cached := s.record(body)
		r, err := parseRequest(api, body)
		r.Attempt = attempt
		if api == "messages" && marks(body) == 0 {
			cached = 0
		}
		s.cfg.Logger.DebugContext(hr.Context(), "scripted request", "api", api, "bytes", len(body), "attempt", attempt)
		switch {
		case api == "messages" && hr.Header.Get("Anthropic-Version") == "":
			writeReply(w, api, Fail(http.StatusBadRequest, "", "anthropic-version: header is required", 0))
		case err != nil:
			writeReply(w, api, Fail(http.StatusBadRequest, "invalid_request_error", err.Error(), 0))
		case len(s.cfg.Models) > 0 && !slices.Contains(s.cfg.Models, r.Model):
			writeReply(w, api, Fail(http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", r.Model), 0))
		default:
			reply := s.cfg.Handler(hr.Context(), r)
			if reply.Status != 0 {
				writeReply(w, api, reply)
				return
			}
			newStream(hr.Context(), w, r, reply, cached).run()
		}
	}
}

// record keeps a body. It returns how often exactly this one arrived, and how many of its
// bytes a recent one shares.
func (s *Server) record(body []byte) (attempt, cached int) {
	key := maphash.Bytes(s.seed, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.kept) - 1; i >= max(0, len(s.kept)-lookedBack); i-- {
		cached = max(cached, commonPrefix(s.kept[i], body))
	}
	s.kept = append(s.kept, body)
	s.keptSize += len(body)
	for s.keptSize > keptBytes {
		s.keptSize -= len(s.kept[0])
		s.kept = s.kept[1:]
	}
	if len(s.attempts) >= maxAttempts {
		clear(s.attempts)
	}
	s.attempts[key]++
	return s.attempts[key], cached
}

// commonPrefix compares in large pieces; byte by byte is too slow for long requests.
func commonPrefix(a, b []byte) int {
	const lump = 512
	n := 0
	for len(a) >= n+lump && len(b) >= n+lump && bytes.Equal(a[n:n+lump], b[n:n+lump]) {
		n += lump
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// apiOf is the API of a request whose path does not say it.
func apiOf(r *http.Request) string {
	if r.Header.Get("Anthropic-Version") != "" {
		return "messages"
	}
	return "chat"
}

// writeReply sends an answer that is not a stream, an error in the form of the API.
func writeReply(w http.ResponseWriter, api string, r Reply) {
	status, body := r.Status, r.Body
	if r.failed && api == "messages" {
		status, body = messagesError(status, r.code, r.message)
	}
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
