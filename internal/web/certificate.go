package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"podd/pkg/item"
)

// renewEvery is how often the files of a certificate are read again.
const renewEvery = time.Minute

// pair is a certificate and its key, in PEM.
type pair struct{ Cert, Key []byte }

func (p pair) equal(o pair) bool { return bytes.Equal(p.Cert, o.Cert) && bytes.Equal(p.Key, o.Key) }

// Certificate is a certificate in files. When they change, the next child gets it.
type Certificate struct {
	cert, key string
	// name is what it must be for.
	name string
	// again asks to read the files at once.
	again <-chan os.Signal
	// pair is what children get; refused is why what was read later is not usable.
	pair    pair
	refused string
}

// LoadCertificate reads a certificate for a name. A signal of again has its files read again
// at once.
func LoadCertificate(cert, key, name string, again <-chan os.Signal) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, name: name, again: again}
	var err error
	c.pair, err = c.read()
	if err == nil {
		_, err = c.check(c.pair)
	}
	return c, err
}

func refuseCertificate(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "WEB_CERT", format, args...)
}

func (c *Certificate) read() (p pair, err error) {
	for _, file := range []struct {
		path, what, flag string
		to               *[]byte
	}{{c.cert, "certificate", "--cert", &p.Cert}, {c.key, "key", "--key", &p.Key}} {
		*file.to, err = os.ReadFile(file.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return p, refuseCertificate("the %s %s does not exist: check %s", file.what, file.path, file.flag)
		case errors.Is(err, fs.ErrPermission):
			return p, refuseCertificate("podd web may not read the %s %s: let its user read the file", file.what, file.path)
		case err != nil:
			return p, refuseCertificate("cannot read the %s %s: %v", file.what, file.path, err)
		}
	}
	return p, nil
}

// check says until when a certificate is valid, or why it is not usable.
func (c *Certificate) check(p pair) (until time.Time, err error) {
	loaded, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return until, refuseCertificate("cannot use the certificate %s with the key %s: %v", c.cert, c.key, err)
	}
	leaf, now := loaded.Leaf, time.Now()
	switch {
	case leaf.VerifyHostname(c.name) != nil:
		return until, refuseCertificate("the certificate %s is not for %s: get one for that name, or change --origin", c.cert, c.name)
	case now.After(leaf.NotAfter):
		return until, refuseCertificate("the certificate %s expired at %s: renew it", c.cert, stamp(leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		return until, refuseCertificate("the certificate %s is valid from %s on: check the clock of this machine", c.cert, stamp(leaf.NotBefore))
	}
	return leaf.NotAfter, nil
}

func stamp(t time.Time) string { return t.Local().Format(time.DateTime) }

// await waits until the files have another certificate that is usable; false if ctx ends
// first.
func (c *Certificate) await(ctx context.Context, log func(string)) bool {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		asked := false
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		case <-c.again:
			asked = true
		}
		if c.renew(asked, log) {
			return true
		}
	}
}

// renew reads the files again; true if they have another certificate that is usable. asked
// says to answer in any case.
func (c *Certificate) renew(asked bool, log func(string)) bool {
	p, err := c.read()
	if err == nil && p.equal(c.pair) {
		if asked {
			log("the certificate is the same as before")
		}
		c.refused = ""
		return false
	}
	var until time.Time
	if err == nil {
		until, err = c.check(p)
	}
	if err == nil {
		log(fmt.Sprintf("the certificate is renewed, until %s", stamp(until)))
		c.pair, c.refused = p, ""
		return true
	}
	// Two files are not replaced at once: the next look may find both.
	if asked || err.Error() != c.refused {
		log(fmt.Sprintf("%v; still using the previous certificate", err))
	}
	c.refused = err.Error()
	return false
}
