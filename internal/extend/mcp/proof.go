package mcp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"podd/internal/guard/secrets"
)

// What a request for a token calls a JWT: as a grant, or as the client's proof.
const (
	grantJWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	proofJWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// prove adds to a request for a token what proves who podd is. An error is the rest of a sentence.
func (a *account) prove(c *clientcredentials.Config, meta *oauthex.AuthServerMeta) (err error) {
	s := a.server
	if s.ClientSecretFile != "" {
		methods := meta.TokenEndpointAuthMethodsSupported
		if len(methods) == 0 || slices.Contains(methods, "client_secret_basic") {
			c.AuthStyle = oauth2.AuthStyleInHeader
		}
		if c.ClientSecret, err = a.m.secretFile(s.ClientSecretFile); err != nil {
			return err
		}
	}
	proof := ""
	switch {
	case s.PrivateKeyFile != "":
		proof, err = a.signed(meta.Issuer)
	case s.AssertionFile != "":
		proof, err = a.m.secretBy(s.AssertionFile, secrets.ReadProjected)
	}
	switch {
	case s.Grant == GrantAssertion:
		c.EndpointParams["grant_type"], c.EndpointParams["assertion"] = []string{grantJWT}, []string{proof}
	case proof != "":
		c.EndpointParams["client_assertion_type"], c.EndpointParams["client_assertion"] = []string{proofJWT}, []string{proof}
	}
	return err
}

// signed is a JWT (RFC 7523) that tells an authorization server who podd is.
func (a *account) signed(issuer string) (string, error) {
	text, err := a.m.secretFile(a.server.PrivateKeyFile)
	if err != nil {
		return "", err
	}
	key, alg, hash := keyIn(text)
	if key == nil {
		return "", fmt.Errorf("has no private key in %s: it takes an RSA, EC or Ed25519 key as PEM, without a password", a.server.PrivateKeyFile)
	}
	id, now := a.server.ClientID, a.m.Now()
	head, _ := json.Marshal(map[string]string{"alg": alg, "typ": "JWT"})
	body, _ := json.Marshal(map[string]any{
		"iss": id, "sub": id, "aud": issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	})
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	signature, err := sign(key, hash, []byte(signed))
	if err != nil {
		return "", fmt.Errorf("has a private key in %s that cannot sign: %w", a.server.PrivateKeyFile, err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// keyIn is the private key in a PEM text, and how it signs (RFC 7518); nil without one.
func keyIn(text string) (key crypto.Signer, alg string, hash crypto.Hash) {
	var block *pem.Block
	for rest := []byte(text); block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY"); {
		if block, rest = pem.Decode(rest); block == nil {
			return nil, "", 0
		}
	}
	var parsed any
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	if err != nil {
		parsed, err = x509.ParseECPrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, "", 0
	}
	switch k := parsed.(type) {
	case *rsa.PrivateKey:
		return k, "RS256", crypto.SHA256
	case ed25519.PrivateKey:
		return k, "EdDSA", 0
	case *ecdsa.PrivateKey:
		switch k.Curve.Params().BitSize {
		case 256:
			return k, "ES256", crypto.SHA256
		case 384:
			return k, "ES384", crypto.SHA384
		case 521:
			return k, "ES512", crypto.SHA512
		}
	}
	return nil, "", 0
}

// sign signs as a JWT wants it.
func sign(key crypto.Signer, hash crypto.Hash, text []byte) ([]byte, error) {
	if hash != 0 {
		h := hash.New()
		h.Write(text)
		text = h.Sum(nil)
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return key.Sign(rand.Reader, text, hash)
	}
	r, s, err := ecdsa.Sign(rand.Reader, ec, text)
	if err != nil {
		return nil, errors.New("its curve is not usable")
	}
	size := (ec.Curve.Params().BitSize + 7) / 8
	return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...), nil
}
