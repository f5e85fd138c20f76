package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A certificate of fixtures/servers/certificates.json.
type wanted struct {
	Name      string   `json:"name"`
	Issuer    string   `json:"issuer"`  // an earlier one; its own name: signed by itself
	Subject   []string `json:"subject"` // "CN=x", "O=y", "OU=z"
	DNS       []string `json:"dns"`
	URI       []string `json:"uri"`
	Email     []string `json:"email"`
	IP        []string `json:"ip"`
	Authority bool     `json:"authority"` // whether it may sign others
	From      float64  `json:"from"`      // days from now
	Until     float64  `json:"until"`
	Usage     string   `json:"usage"` // server or client; both if absent
}

type made struct {
	certificate *x509.Certificate
	key         crypto.Signer
	chain       []byte // itself and what is between it and a root, PEM
}

func name(parts []string) pkix.Name {
	var name pkix.Name
	for _, part := range parts {
		kind, value, _ := strings.Cut(part, "=")
		switch kind {
		case "CN":
			name.CommonName = value
		case "O":
			name.Organization = append(name.Organization, value)
		case "OU":
			name.OrganizationalUnit = append(name.OrganizationalUnit, value)
		default:
			panic("subject: " + part)
		}
	}
	return name
}

func template(want wanted, serial int64) *x509.Certificate {
	day := 24 * float64(time.Hour)
	made := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: name(want.Subject), DNSNames: want.DNS, EmailAddresses: want.Email,
		NotBefore: time.Now().Add(time.Duration(want.From * day)), NotAfter: time.Now().Add(time.Duration(want.Until * day)),
		BasicConstraintsValid: true, IsCA: want.Authority, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	if want.Authority {
		made.KeyUsage |= x509.KeyUsageCertSign
	}
	if want.Usage != "client" && !want.Authority {
		made.ExtKeyUsage = append(made.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if want.Usage != "server" && !want.Authority {
		made.ExtKeyUsage = append(made.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	for _, text := range want.URI {
		uri, err := url.Parse(text)
		check(err)
		made.URIs = append(made.URIs, uri)
	}
	for _, text := range want.IP {
		made.IPAddresses = append(made.IPAddresses, net.ParseIP(text))
	}
	return made
}

// Makes NAME.pem and NAME.key of all certificates of a table. RSA, because older servers of Java read no other keys.
func makeCertificates(table, directory string) {
	text, err := os.ReadFile(table)
	check(err)
	var all []wanted
	check(json.Unmarshal(text, &all))
	known := map[string]made{}
	for i, want := range all {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		check(err)
		ours := template(want, int64(i+1))
		issuer, is := known[want.Issuer]
		if !is {
			issuer = made{certificate: ours, key: key}
		}
		der, err := x509.CreateCertificate(rand.Reader, ours, issuer.certificate, key.Public(), issuer.key)
		check(err)
		parsed, err := x509.ParseCertificate(der)
		check(err)
		chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		if is && issuer.certificate.CheckSignatureFrom(issuer.certificate) != nil {
			chain = append(chain, issuer.chain...)
		}
		known[want.Name] = made{parsed, key, chain}
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		check(err)
		check(os.WriteFile(filepath.Join(directory, want.Name+".pem"), chain, 0o600))
		check(os.WriteFile(filepath.Join(directory, want.Name+".key"),
			pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	}
}
