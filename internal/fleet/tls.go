package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc/credentials"

	"podd/pkg/item"
	"podd/pkg/store"
)

// identity is a node's certificate and the authority that it trusts.
type identity struct {
	name        string
	certificate tls.Certificate
	authority   *x509.CertPool
}

// loadIdentity reads the certificate of the node with a name. It refuses one that other nodes
// would refuse: KindInvalid, reason NODE_TLS.
func loadIdentity(name, certFile, keyFile, authorityFile string) (*identity, error) {
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, wrong("cannot use %s with %s (%v): check both files", certFile, keyFile, err)
	}
	text, err := os.ReadFile(authorityFile)
	if err != nil {
		return nil, wrong("cannot read the authority (%v)", err)
	}
	id := &identity{name: name, certificate: certificate, authority: x509.NewCertPool()}
	if block, _ := pem.Decode(text); block == nil || !id.authority.AppendCertsFromPEM(text) {
		return nil, wrong("%s has no certificate of an authority", authorityFile)
	}
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		options := x509.VerifyOptions{DNSName: name, Roots: id.authority, KeyUsages: []x509.ExtKeyUsage{use}, Intermediates: x509.NewCertPool()}
		for _, der := range certificate.Certificate[1:] {
			if c, err := x509.ParseCertificate(der); err == nil {
				options.Intermediates.AddCert(c)
			}
		}
		if _, err := certificate.Leaf.Verify(options); err != nil {
			return nil, wrong("other nodes would refuse %s (%v): it needs the DNS name %s, for servers and clients", certFile, err, name)
		}
	}
	return id, nil
}

func wrong(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "NODE_TLS", "node.tls: "+format, args...)
}

// askWithin bounds the question whether a name is a node's.
const askWithin = 2 * time.Second

// Server are the credentials of the listener: it accepts the nodes that nodes returns,
// while ctx lasts.
func (id *identity) Server(ctx context.Context, nodes func(context.Context) ([]store.Node, error)) credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.certificate},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: id.authority,
		VerifyConnection: func(state tls.ConnectionState) error {
			ctx, cancel := context.WithTimeout(ctx, askWithin)
			defer cancel()
			known, err := nodes(ctx)
			if err != nil {
				return err
			}
			names := state.PeerCertificates[0].DNSNames
			if !slices.ContainsFunc(known, func(n store.Node) bool { return slices.Contains(names, n.Name) }) {
				return wrong("the certificate of %q names no node", names)
			}
			return nil
		},
	})
}

// client are the credentials of a connection to a node.
func (id *identity) client(name string) credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.certificate}, RootCAs: id.authority, ServerName: name,
	})
}
