//! CommonTlsContext and CertificateValidationContext (A29, A82).
