#include "troupe/serialization/tls/certificate_authority.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>

namespace troupe {
namespace {

constexpr std::chrono::minutes allowance{5}; // for differences of clocks

template <auto Free>
struct released {
  template <class T>
  void operator()(T* owned) const noexcept {
    Free(owned);
  }
};
using bio_ptr = std::unique_ptr<BIO, released<BIO_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, released<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, released<X509_free>>;

status no_certificate() {
  const auto* reason = ERR_reason_error_string(ERR_peek_last_error());
  return failure(error_kind::internal,
                 "cannot make a certificate: ", reason ? reason : "OpenSSL does not say why");
}

std::string text_of(BIO* bio) {
  char* begin = nullptr;
  auto size = BIO_get_mem_data(bio, &begin);
  return {begin, static_cast<size_t>(std::max(size, 0L))};
}

result<certified_key> to_pem(X509* certificate, EVP_PKEY* key) {
  bio_ptr certificate_text{BIO_new(BIO_s_mem())}, key_text{BIO_new(BIO_s_mem())};
  if (!certificate_text || !key_text ||
      PEM_write_bio_X509(certificate_text.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return no_certificate();
  return certified_key{text_of(certificate_text.get()), text_of(key_text.get())};
}

bool set_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1)
    return false;
  bytes[0] &= 0x7f; // positive
  std::unique_ptr<BIGNUM, released<BN_free>> number{BN_bin2bn(bytes, sizeof bytes, nullptr)};
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate));
}

bool set_validity(X509* certificate, const validity& period) {
  auto set = [](ASN1_TIME* field, std::chrono::system_clock::time_point time_point) {
    return ASN1_TIME_set(field, std::chrono::system_clock::to_time_t(time_point)) != nullptr;
  };
  return set(X509_getm_notBefore(certificate), period.begin) &&
         set(X509_getm_notAfter(certificate), period.end);
}

// The common name is informative; no check uses it.
bool set_common_name(X509_NAME* name, const std::string& text) {
  constexpr size_t max_length = 64;
  return X509_NAME_add_entry_by_txt(
             name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.c_str()),
             static_cast<int>(std::min(text.size(), max_length)), -1, 0) == 1;
}

bool extend(X509* certificate, X509* issuer, int extension_id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, released<X509_EXTENSION_free>> extension{
      X509V3_EXT_conf_nid(nullptr, &context, extension_id, value)};
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Names are added as structures: a text with commas would be parsed as several names.
bool set_names(X509* certificate, const std::vector<certificate_name>& names) {
  std::unique_ptr<GENERAL_NAMES, released<GENERAL_NAMES_free>> name_list{GENERAL_NAMES_new()};
  for (const auto& added_name : names) {
    std::unique_ptr<GENERAL_NAME, released<GENERAL_NAME_free>> general_name{GENERAL_NAME_new()};
    auto* text = ASN1_IA5STRING_new();
    if (!name_list || !general_name || !text) {
      ASN1_IA5STRING_free(text);
      return false;
    }
    auto uri = to_string(added_name);
    GENERAL_NAME_set0_value(general_name.get(), GEN_URI, text);
    if (ASN1_STRING_set(text, uri.data(), static_cast<int>(uri.size())) != 1 ||
        sk_GENERAL_NAME_push(name_list.get(), general_name.get()) == 0)
      return false;
    [[maybe_unused]] auto* owned_by_list = general_name.release();
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, name_list.get(), 0,
                           X509V3_ADD_DEFAULT) == 1;
}

struct generated_pair {
  certificate_ptr certificate;
  key_ptr key;
};

// Makes a certificate without names and signature.
result<generated_pair> begin_certificate(const std::string& common_name, const validity& period) {
  generated_pair pair{certificate_ptr{X509_new()}, key_ptr{EVP_EC_gen("P-256")}};
  auto* certificate = pair.certificate.get();
  if (!certificate || !pair.key || X509_set_version(certificate, X509_VERSION_3) != 1 ||
      !set_serial(certificate) || !set_validity(certificate, period) ||
      !set_common_name(X509_get_subject_name(certificate), common_name) ||
      X509_set_pubkey(certificate, pair.key.get()) != 1)
    return no_certificate();
  return pair;
}

} // namespace

validity validity::for_days(int days) {
  auto now = std::chrono::system_clock::now();
  return {now - allowance, now + std::chrono::hours{24} * days};
}

struct certificate_authority::state {
  certificate_ptr certificate;
  key_ptr key;
  certified_key pem;
};

certificate_authority::certificate_authority(std::unique_ptr<state> initial_state)
    : state_(std::move(initial_state)) {}
certificate_authority::certificate_authority(certificate_authority&&) noexcept = default;
certificate_authority& certificate_authority::operator=(certificate_authority&&) noexcept = default;
certificate_authority::~certificate_authority() = default;

const certified_key& certificate_authority::pem() const noexcept { return state_->pem; }

result<certificate_authority> certificate_authority::make(const validity& period) {
  TROUPE_ASSIGN(auto pair, begin_certificate("Troupe authority", period));
  auto* certificate = pair.certificate.get();
  if (X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) != 1 ||
      !extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !extend(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !extend(certificate, certificate, NID_subject_key_identifier, "hash") ||
      X509_sign(certificate, pair.key.get(), EVP_sha256()) == 0)
    return no_certificate();
  TROUPE_ASSIGN(auto pem, to_pem(certificate, pair.key.get()));
  return certificate_authority{std::make_unique<state>(
      state{std::move(pair.certificate), std::move(pair.key), std::move(pem)})};
}

result<certificate_authority> certificate_authority::read(const certified_key& pem) {
  auto open = [](const std::string& text) {
    return bio_ptr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
  };
  auto no_passphrase = [](char*, int, int, void*) { return 0; };
  ERR_clear_error();
  certificate_ptr certificate{
      PEM_read_bio_X509(open(pem.certificate).get(), nullptr, no_passphrase, nullptr)};
  if (!certificate || X509_check_ca(certificate.get()) != 1)
    return invalid("it has no certificate of an authority in PEM");
  key_ptr key{PEM_read_bio_PrivateKey(open(pem.key).get(), nullptr, no_passphrase, nullptr)};
  if (!key)
    return invalid("it has no private key in PEM without a passphrase");
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    return invalid("the key is not that of the certificate");
  return certificate_authority{
      std::make_unique<state>(state{std::move(certificate), std::move(key), pem})};
}

result<certified_key> certificate_authority::issue(const std::vector<certificate_name>& names,
                                                   const validity& period) const {
  if (names.empty())
    return invalid("a certificate has to name a task or a client");
  TROUPE_ASSIGN(auto pair, begin_certificate(to_string(names.front()), period));
  auto* certificate = pair.certificate.get();
  auto* issuer = state_->certificate.get();
  auto clients_only = std::ranges::all_of(names, &certificate_name::is_client);
  if (X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) != 1 ||
      !extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !extend(certificate, issuer, NID_key_usage, "critical,digitalSignature") ||
      !extend(certificate, issuer, NID_ext_key_usage,
              clients_only ? "clientAuth" : "serverAuth,clientAuth") ||
      !extend(certificate, issuer, NID_subject_key_identifier, "hash") ||
      !extend(certificate, issuer, NID_authority_key_identifier, "keyid:always") ||
      !set_names(certificate, names) ||
      X509_sign(certificate, state_->key.get(), EVP_sha256()) == 0)
    return no_certificate();
  return to_pem(certificate, pair.key.get());
}

} // namespace troupe
