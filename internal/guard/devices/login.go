package devices

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"math/big"
	"slices"
	"time"

	"podd/pkg/item"
)

// The limits of logins.
const (
	// BearerFor is how long a bearer is valid, challengeFor a challenge.
	BearerFor     = 15 * time.Minute
	challengeFor  = time.Minute
	maxChallenges = 64
	maxSessions   = 256
)

type hash [sha256.Size]byte

// challenge is a text that a device must sign.
type challenge struct {
	device  string
	expires time.Time
}

// session is a bearer that was given out. Only its hash is kept.
type session struct {
	device  string
	expires time.Time
	// ended ends with the session; end says why.
	ended context.Context //nolint:containedctx // It is the session's life.
	end   context.CancelCauseFunc
}

var (
	errUnknown  = item.Errorf(item.KindUnauthenticated, "BEARER_UNKNOWN", "podd does not know this bearer: log in again")
	errExpired  = item.Errorf(item.KindUnauthenticated, "BEARER_EXPIRED", "the bearer has expired: log in again")
	errRevoked  = item.Errorf(item.KindUnauthenticated, "DEVICE_REVOKED", "this browser was revoked: run podctl web pair to pair it again")
	errNoDevice = item.Errorf(item.KindUnauthenticated, "DEVICE_UNKNOWN", "this browser is not paired any more: run podctl web pair")
	errLogin    = item.Errorf(item.KindUnauthenticated, "LOGIN", "the challenge or its signature is not valid: ask for a new challenge")
)

// Challenge makes a text for a device to sign.
func (b *Book) Challenge(id string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.valid(id); !ok {
		return "", errNoDevice
	}
	now := time.Now()
	maps.DeleteFunc(b.challenges, func(_ string, c challenge) bool { return !now.Before(c.expires) })
	if len(b.challenges) >= maxChallenges {
		return "", item.Errorf(item.KindExhausted, "TOO_MANY_LOGINS", "%d logins are under way: try again in a minute", maxChallenges)
	}
	text := secret()
	b.challenges[text] = challenge{id, now.Add(challengeFor)}
	return text, nil
}

// secret is a text of 256 random bits.
func secret() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Login gives out a bearer for a signed challenge.
func (b *Book) Login(id, text string, signature []byte) (bearer string, expires time.Time, d Device, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, asked := b.challenges[text]
	delete(b.challenges, text)
	d, ok := b.valid(id)
	now := time.Now()
	switch {
	case !ok:
		return "", expires, d, errNoDevice
	case !asked || c.device != id || !now.Before(c.expires) || !verify(d.Key, id, text, signature):
		return "", expires, d, errLogin
	}
	expires = now.Add(BearerFor)
	if d.Expires.Before(expires) {
		expires = d.Expires
	}
	b.makeRoom(now)
	bearer = secret()
	s := &session{device: id, expires: expires}
	s.ended, s.end = context.WithCancelCause(context.Background()) //nolint:forbidigo // A session outlives its login.
	b.sessions[sha256.Sum256([]byte(bearer))] = s
	i := slices.IndexFunc(b.devices, func(d Device) bool { return d.ID == id })
	b.devices[i].Seen = now
	return bearer, expires, b.devices[i], nil
}

// makeRoom forgets sessions that are over and, if there are too many, the one that ends first.
func (b *Book) makeRoom(now time.Time) {
	var first hash
	for key, s := range b.sessions {
		if !now.Before(s.expires) {
			s.end(errExpired)
			delete(b.sessions, key)
		} else if f := b.sessions[first]; f == nil || s.expires.Before(f.expires) {
			first = key
		}
	}
	if len(b.sessions) >= maxSessions {
		b.sessions[first].end(errExpired)
		delete(b.sessions, first)
	}
}

// verify says whether a signature of a login is by a key.
func verify(key []byte, id, text string, signature []byte) bool {
	public, err := publicKey(key)
	if err != nil || len(signature) != 64 {
		return false
	}
	sum := sha256.Sum256([]byte("podd-web-login/1\n" + id + "\n" + text))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	return ecdsa.Verify(public, sum[:], r, s)
}

// Allow is the device that may make a call with a bearer.
func (b *Book) Allow(method, bearer string) (Device, error) {
	d, _, err := b.session(bearer)
	if err != nil {
		return Device{}, err
	}
	need, ok := CallScope(method)
	switch {
	case !ok:
		return Device{}, item.Errorf(item.KindUnimplemented, "UNLISTED_CALL", "no browser can make the call %q: use podctl", method)
	case !d.Scope.Includes(need):
		return Device{}, item.Errorf(item.KindDenied, "DEVICE_SCOPE", "this needs the scope %s, and this browser has %s: pair it with podctl web pair --scope %s", need, d.Scope, need)
	}
	return d, nil
}

func (b *Book) session(bearer string) (Device, *session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sessions[sha256.Sum256([]byte(bearer))]
	if s == nil {
		return Device{}, nil, errUnknown
	}
	d, ok := b.valid(s.device)
	switch {
	case !ok:
		return Device{}, nil, errNoDevice
	case !time.Now().Before(s.expires):
		return Device{}, nil, errExpired
	}
	return d, s, nil
}

// Hold is Allow with a context that ends when the bearer does, or its device is revoked; its
// cause then is the error to answer. The caller calls done.
func (b *Book) Hold(ctx context.Context, method, bearer string) (held context.Context, done func(), d Device, err error) {
	if d, err = b.Allow(method, bearer); err != nil {
		return nil, nil, d, err
	}
	_, s, err := b.session(bearer)
	if err != nil {
		return nil, nil, d, err
	}
	ctx, end := context.WithDeadlineCause(ctx, s.expires, errExpired)
	held, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ended, func() { cancel(context.Cause(s.ended)) })
	return held, func() {
		stop()
		cancel(nil)
		end()
	}, d, nil
}

// Ended is the error to answer if a call's context ended with its bearer; nil if it did not.
func Ended(ctx context.Context) error {
	for _, why := range []error{errExpired, errRevoked} {
		if errors.Is(context.Cause(ctx), why) {
			return why
		}
	}
	return nil
}
