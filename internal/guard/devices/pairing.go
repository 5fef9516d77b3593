package devices

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// The limits of a pairing.
const (
	// CodeFor is how long a code is valid.
	CodeFor = 5 * time.Minute
	// codeTries is how many wrong codes end a pairing.
	codeTries   = 5
	codeLength  = 10
	codeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	maxPairings = 8
	nonceLength = 32
)

// Pairing waits for one browser that sends its code. A pairing goes through its stages once and
// in order: the browser sends the code with its key, shows the nonce to which it is bound, and
// is let in by the person. So whoever swaps the key on the way cannot choose the number.
type Pairing struct {
	// Code is what the browser must send, until Expires.
	Code    string
	Expires time.Time
	// Browser delivers the browser that has sent the code and shown its nonce.
	Browser chan Browser
	// Done is closed when the pairing has ended; Result is then valid.
	Done chan struct{}

	book  *Book
	grant Grant

	// These are guarded by the book's mutex.
	tries  int
	key    []byte
	name   string
	commit []byte
	nonce  []byte
	number string
	device Device
	err    error
}

// Browser is a browser that waits to be let in.
type Browser struct{ Name, Number string }

// Grant is what a person lets a browser do.
type Grant struct {
	Scope Scope
	// Pods are the ids of the pods that it may know of; empty means all.
	Pods []string
	// Days is how long it is valid; 0 means 30.
	Days int
}

// StartPairing makes a code. The caller ends the pairing with End.
func (b *Book) StartPairing(g Grant) (*Pairing, error) {
	switch {
	case !slices.Contains(Scopes(), g.Scope):
		return nil, item.Errorf(item.KindInvalid, "DEVICE_SCOPE", "a browser needs a scope: view, answer or control")
	case g.Days < 0 || g.Days > MaxDays:
		return nil, item.Errorf(item.KindInvalid, "DEVICE_DAYS", "a browser is valid for 1 to %d days, not %d", MaxDays, g.Days)
	case len(g.Pods) > maxPods:
		return nil, item.Errorf(item.KindInvalid, "DEVICE_PODS", "a browser names at most %d pods, not %d: leave them out to mean all", maxPods, len(g.Pods))
	case g.Days == 0:
		g.Days = usualDays
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pairings) >= maxPairings {
		return nil, item.Errorf(item.KindExhausted, "TOO_MANY_PAIRINGS", "%d codes wait for a browser: end a podctl web pair first", maxPairings)
	}
	p := &Pairing{
		Code: random(codeLength), Expires: time.Now().Add(CodeFor), Browser: make(chan Browser, 1), Done: make(chan struct{}),
		book: b, grant: g, tries: codeTries,
	}
	b.pairings = append(b.pairings, p)
	return p, nil
}

// random is a text of letters, each as likely as the others.
func random(length int) string {
	text := make([]byte, 0, length)
	for one := make([]byte, 1); len(text) < length; {
		rand.Read(one)
		if n := int(one[0]); n < 256/len(codeLetters)*len(codeLetters) {
			text = append(text, codeLetters[n%len(codeLetters)])
		}
	}
	return string(text)
}

// End ends a pairing without a device, if it has not ended.
func (p *Pairing) End(why error) {
	p.book.mu.Lock()
	defer p.book.mu.Unlock()
	p.end(Device{}, why)
}

// end is End, or the success. The caller holds the book's mutex.
func (p *Pairing) end(d Device, err error) {
	select {
	case <-p.Done:
		return
	default:
	}
	p.device, p.err = d, err
	p.book.pairings = slices.DeleteFunc(p.book.pairings, func(o *Pairing) bool { return o == p })
	close(p.Done)
}

// Result is the device, once Done is closed.
func (p *Pairing) Result() (Device, error) {
	p.book.mu.Lock()
	defer p.book.mu.Unlock()
	return p.device, p.err
}

// Await waits for the end of the pairing, the end of its time or that of ctx.
func (p *Pairing) Await(ctx context.Context) (Device, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, p.Expires, errCodeOver)
	defer cancel()
	select {
	case <-p.Done:
	case <-ctx.Done():
		why := errGone
		if errors.Is(context.Cause(ctx), errCodeOver) {
			why = errCodeOver
		}
		p.End(why)
	}
	return p.Result()
}

var (
	errCode     = item.Errorf(item.KindDenied, "PAIRING_CODE", "no browser is paired with this code: run podctl web pair for a new one")
	errCodeOver = item.Errorf(item.KindPrecondition, "PAIRING_ENDED", "the code has expired: run podctl web pair for a new one")
	errTries    = item.Errorf(item.KindPrecondition, "PAIRING_ENDED", "somebody sent %d wrong codes, so the code is void: run podctl web pair for a new one", codeTries)
	errGone     = item.Errorf(item.KindPrecondition, "PAIRING_ENDED", "the pairing was given up: run podctl web pair again")
	errRefused  = item.Errorf(item.KindDenied, "PAIRING_REFUSED", "the person at the terminal did not let this browser in")
	errNonce    = item.Errorf(item.KindDenied, "PAIRING_NONCE", "the nonce is not the one that was promised: run podctl web pair again")
)

// find is the pairing with a code. A wrong code costs every pairing a try. The caller holds mu.
func (b *Book) find(code string) (*Pairing, error) {
	var found *Pairing
	for _, p := range b.pairings {
		if subtle.ConstantTimeCompare([]byte(p.Code), []byte(strings.ToUpper(code))) == 1 && time.Now().Before(p.Expires) {
			found = p
		}
	}
	if found != nil {
		return found, nil
	}
	for _, p := range slices.Clone(b.pairings) {
		if p.tries--; p.tries <= 0 {
			p.end(Device{}, errTries)
		}
	}
	return nil, errCode
}

// Ask binds a browser's key and the SHA-256 of its nonce to the code, which no other browser
// can use from then on. It returns podd's nonce.
func (b *Book) Ask(code, name string, key, commitment []byte) (*Pairing, []byte, error) {
	if err := checkKey(key); err != nil {
		return nil, nil, err
	}
	if len(commitment) != sha256.Size {
		return nil, nil, item.Errorf(item.KindInvalid, "PAIRING_NONCE", "the commitment has %d bytes, not the 32 of a SHA-256", len(commitment))
	}
	name = strings.TrimSpace(sanitize.Line(name))
	if name == "" || len(name) > maxName {
		return nil, nil, item.Errorf(item.KindInvalid, "DEVICE_NAME", "a browser needs a name of 1 to %d bytes", maxName)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(code)
	if err != nil {
		return nil, nil, err
	}
	if p.key != nil {
		// Two browsers have the code: which one is the person's is unknown.
		p.end(Device{}, item.Errorf(item.KindPrecondition, "PAIRING_ENDED", "a second browser sent the code, so it is void: run podctl web pair again"))
		return nil, nil, errCode
	}
	p.key, p.name, p.commit, p.nonce = key, name, commitment, make([]byte, nonceLength)
	rand.Read(p.nonce)
	return p, p.nonce, nil
}

// Reveal takes the browser's nonce and shows the browser at the terminal.
func (b *Book) Reveal(code string, nonce []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(code)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(nonce)
	if p.key == nil || p.number != "" || len(nonce) != nonceLength || !bytes.Equal(sum[:], p.commit) {
		p.end(Device{}, errNonce)
		return errNonce
	}
	p.number = Number(p.Code, nonce, p.nonce, p.key)
	p.Browser <- Browser{p.name, p.number}
	return nil
}

// Answer lets the browser with a number in, or refuses it.
func (b *Book) Answer(code, number string, accept bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.pairings, func(p *Pairing) bool { return p.Code == code })
	if i < 0 || b.pairings[i].number == "" || !time.Now().Before(b.pairings[i].Expires) {
		return item.Errorf(item.KindPrecondition, "PAIRING_ENDED", "no browser waits with this code: run podctl web pair again")
	}
	p := b.pairings[i]
	if !accept || p.number != number {
		p.end(Device{}, errRefused)
		return nil
	}
	d, err := b.add(p)
	p.end(d, err)
	return err
}

// Number is what terminal and browser show: six digits.
func Number(code string, browsers, podds, key []byte) string {
	sum := sha256.Sum256(slices.Concat([]byte("podd-web-pair/1\n"+code+"\n"), browsers, podds, key))
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[:4])%1_000_000)
}

// checkKey refuses what is no public key of P-256.
func checkKey(key []byte) error {
	if _, err := publicKey(key); err != nil {
		return item.Errorf(item.KindInvalid, "DEVICE_KEY", "the key is no P-256 public key in DER (SubjectPublicKeyInfo)")
	}
	return nil
}

func publicKey(der []byte) (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, err
	}
	if key, ok := parsed.(*ecdsa.PublicKey); ok && key.Curve == elliptic.P256() {
		return key, nil
	}
	return nil, fmt.Errorf("%T is not a P-256 key", parsed)
}
