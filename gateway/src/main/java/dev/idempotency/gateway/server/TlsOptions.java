package dev.idempotency.gateway.server;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How clients are spoken to under TLS. The files are PEM and are read again when they change.
 *
 * @param certificate the gateway's certificate, followed by those of intermediate authorities
 * @param privateKey the certificate's private key (PKCS#8 or PKCS#1), without a password
 * @param clientAuthorities the certificates of the authorities that sign clients' certificates;
 *     null where clients show none
 * @param clientCertificateDemanded whether a client without a certificate is refused
 * @param protocols the versions that are spoken, such as "TLSv1.3"; one or more
 * @param reloadInterval how often the files are looked at
 */
public record TlsOptions(
    Path certificate,
    Path privateKey,
    @Nullable Path clientAuthorities,
    boolean clientCertificateDemanded,
    List<String> protocols,
    Duration reloadInterval) {}
