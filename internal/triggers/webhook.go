package triggers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// Webhooks are how others fire triggers by HTTP.
type Webhooks struct {
	// URL is where podd listens, such as http://127.0.0.1:7634; empty if it does not.
	URL string
	// Key makes the secrets. Each node has its own, and checks what it receives itself.
	Key string
	// Send has a call answered here or by another node.
	Send func(ctx context.Context, req any, method string, here grpc.UnaryHandler) (any, error)
}

const (
	// maxBody is the largest body of a webhook, in bytes.
	maxBody = 1 << 20
	// fireTime is how long a webhook may take to fire: GitHub waits ten seconds.
	fireTime = 8 * time.Second
	// secretPrefix tells secrets of webhooks from other text: podd redacts what begins so.
	secretPrefix = "podd_hook_"
)

// secret is that of a trigger.
func (h Webhooks) secret(d definition) string {
	mac := hmac.New(sha256.New, []byte(h.Key))
	mac.Write([]byte(d.ID + "/" + d.Salt))
	return secretPrefix + hex.EncodeToString(mac.Sum(nil))
}

// url is where a trigger of a pod is fired; empty if it can't be.
func (w *Wing) url(p item.Pod, t *trigger) string {
	if w.Webhooks.URL == "" || !t.Webhook {
		return ""
	}
	return w.Webhooks.URL + "/t/" + p.Name + "/" + t.Name
}

// Secret is the secret of a webhook.
func (w *Wing) Secret(ctx context.Context, idOrName, name string) (string, error) {
	if w.Webhooks.URL == "" {
		return "", item.Errorf(item.KindPrecondition, "WEBHOOKS_OFF", `podd does not listen for webhooks: set listen = "127.0.0.1:7634" in [triggers] of the configuration and restart podd`)
	}
	d, err := w.webhook(ctx, idOrName, name)
	if err != nil {
		return "", err
	}
	if !d.Webhook {
		return "", item.Errorf(item.KindPrecondition, "NO_WEBHOOK", "trigger %s has no webhook: podctl trigger edit %s --webhook gives it one", name, name)
	}
	return w.Webhooks.secret(d), nil
}

// webhook is the definition of a trigger, also of a pod of another node.
func (w *Wing) webhook(ctx context.Context, idOrName, name string) (definition, error) {
	p, err := w.Host.Store.Pod(ctx, idOrName)
	if err != nil {
		return definition{}, err
	}
	w.mu.Lock()
	h := w.homes[p.ID]
	w.mu.Unlock()
	if h == nil {
		h = &home{mu: make(lock, 1)}
		if h.all, err = w.stored(ctx, p); err != nil {
			return definition{}, err
		}
	}
	if err := h.mu.take(ctx); err != nil {
		return definition{}, err
	}
	defer h.mu.Unlock()
	t, err := h.find(p, name)
	if err != nil {
		return definition{}, err
	}
	return t.definition, nil
}

// hookAnswer is what a sender gets.
type hookAnswer struct {
	Pod     string `json:"pod,omitempty"`
	Trigger string `json:"trigger,omitempty"`
	// Receipt is the entry that says what became of it, Fire the number of the fire.
	Receipt   int64  `json:"receipt,omitempty"`
	Fire      int64  `json:"fire,omitempty"`
	Duplicate bool   `json:"duplicate,omitempty"`
	Skipped   string `json:"skipped,omitempty"`
	Error     string `json:"error,omitempty"`
}

// ServeHTTP answers a webhook: POST /t/POD/NAME. An answer 2xx comes after the commit.
func (w *Wing) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	status, answer := w.receive(out, r)
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // It is plain.
	}
	head := out.Header()
	head.Set("Content-Type", "application/json")
	head.Set("X-Content-Type-Options", "nosniff")
	switch status {
	case http.StatusMethodNotAllowed:
		head.Set("Allow", http.MethodPost)
	case http.StatusUnauthorized:
		head.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		head.Set("Retry-After", "30")
	}
	out.WriteHeader(status)
	_, _ = out.Write(append(text, '\n'))
}

func refuse(status int, sentence string) (int, hookAnswer) {
	return status, hookAnswer{Error: sentence}
}

// unauthorized is the answer to all who do not have the secret, whether there is such a trigger or not.
func unauthorized() (int, hookAnswer) {
	return refuse(http.StatusUnauthorized, "no such webhook, or not its secret: send Authorization: Bearer SECRET, or X-Hub-Signature-256")
}

// receive fires what a request asks for.
func (w *Wing) receive(out http.ResponseWriter, r *http.Request) (int, hookAnswer) {
	path, ok := strings.CutPrefix(r.URL.Path, "/t/")
	pod, name, _ := strings.Cut(path, "/")
	switch {
	case !ok || pod == "" || name == "" || strings.Contains(name, "/"):
		return refuse(http.StatusNotFound, "a webhook is at /t/POD/TRIGGER")
	case r.Method != http.MethodPost:
		return refuse(http.StatusMethodNotAllowed, "send a POST")
	case r.ContentLength > maxBody:
		return refuse(http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
	case r.Header.Get("Authorization") == "" && r.Header.Get("X-Hub-Signature-256") == "":
		return unauthorized()
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxBody))
	if err != nil {
		if len(body) >= maxBody {
			return refuse(http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
		}
		return refuse(http.StatusBadRequest, "the body did not arrive")
	}
	ctx, cancel := context.WithTimeout(r.Context(), fireTime)
	defer cancel()
	d, err := w.webhook(ctx, pod, name)
	switch {
	case err != nil && item.KindOf(err) != item.KindNotFound:
		return refuse(http.StatusServiceUnavailable, "try again later")
	case !w.admits(d, r.Header, body):
		return unauthorized()
	case r.Header.Get("X-GitHub-Event") == "ping":
		return http.StatusOK, hookAnswer{Pod: pod, Trigger: name}
	}
	data, refusal := d.data(r.Header, body)
	if refusal != "" {
		return refuse(http.StatusBadRequest, refusal)
	}
	return w.deliver(ctx, pod, name, eventID(r.Header), data)
}

// admits says whether a sender has the secret of a trigger. It takes as long for a trigger that does not exist.
func (w *Wing) admits(d definition, head http.Header, body []byte) bool {
	secret := w.Webhooks.secret(d)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	signed := hmac.Equal([]byte(head.Get("X-Hub-Signature-256")), []byte("sha256="+hex.EncodeToString(mac.Sum(nil))))
	shown := hmac.Equal([]byte(head.Get("Authorization")), []byte("Bearer "+secret))
	return d.Webhook && (signed || shown)
}

// eventID names what a sender sends, so that it fires once.
func eventID(head http.Header) string {
	if id := head.Get("X-GitHub-Delivery"); id != "" {
		return id
	}
	return head.Get("Idempotency-Key")
}

// data is the text of an event for the model; refusal says why a body cannot be used.
func (d definition) data(head http.Header, body []byte) (text, refusal string) {
	text = string(body)
	if kind, _, _ := mime.ParseMediaType(head.Get("Content-Type")); kind == "application/x-www-form-urlencoded" {
		if form, err := url.ParseQuery(text); err == nil && form.Has("payload") {
			text = form.Get("payload")
		}
	}
	if len(d.Select) > 0 {
		picked, err := pick(text, d.Select)
		if err != nil {
			return "", "the body is not JSON, of which the trigger selects parts"
		}
		text = picked
	}
	if event := head.Get("X-GitHub-Event"); event != "" {
		text = "X-GitHub-Event: " + sanitize.Line(event) + "\n" + text
	}
	return strings.ToValidUTF8(text, "�"), ""
}

// cut is a text within a limit, with a word about what it lacks.
func cut(text string, limit int) string {
	const word = "\n[cut]"
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(word), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + word
}

// deliver fires a trigger, on the node that has its pod.
func (w *Wing) deliver(ctx context.Context, pod, name, id, data string) (int, hookAnswer) {
	req := &poddv1.FireTriggerRequest{Pod: pod, Name: name, Id: strings.ToValidUTF8(id, "�"), Data: cut(data, w.maxData())}
	here := &service{wing: w}
	got, err := w.Webhooks.Send(ctx, req, poddv1.TriggerService_FireTrigger_FullMethodName, func(ctx context.Context, req any) (any, error) {
		return here.FireTrigger(ctx, req.(*poddv1.FireTriggerRequest))
	})
	if err != nil {
		return failed(err)
	}
	resp := got.(*poddv1.FireTriggerResponse)
	receipt := resp.GetReceipt()
	a := hookAnswer{Pod: pod, Trigger: name, Receipt: receipt.GetSeq(), Fire: receipt.GetNumber(), Duplicate: resp.GetDuplicate()}
	if receipt.GetKind() == poddv1.ReceiptKind_RECEIPT_KIND_SKIPPED {
		a.Skipped = receipt.GetCause()
	}
	if a.Duplicate || a.Skipped != "" {
		return http.StatusOK, a
	}
	return http.StatusAccepted, a
}

// failed is the answer to what could not be done.
func failed(err error) (int, hookAnswer) {
	switch item.KindOf(err) {
	case item.KindInvalid:
		return refuse(http.StatusBadRequest, sanitize.Line(err.Error()))
	case item.KindNotFound:
		return unauthorized()
	}
	return refuse(http.StatusServiceUnavailable, sanitize.Line(err.Error()))
}
