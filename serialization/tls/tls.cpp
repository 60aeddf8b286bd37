#include "troupe/serialization/tls/tls.hpp"

#include "troupe/serialization/tls/token.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>

#include <sys/stat.h>
#include <unistd.h>

namespace troupe {
namespace {

constexpr int longest_chain = 4;
constexpr long longest_certificates = 32 * 1024; // of a peer, before it is believed
constexpr int most_names = 64;

template <auto Free>
struct freed {
  template <class T>
  void operator()(T* what) const noexcept {
    Free(what);
  }
};
using context_ptr = std::unique_ptr<SSL_CTX, freed<SSL_CTX_free>>;
using ssl_ptr = std::unique_ptr<SSL, freed<SSL_free>>;

std::string date_of(const ASN1_TIME* when) {
  tm at{};
  char text[32] = "an unknown time";
  if (when && ASN1_TIME_to_tm(when, &at) == 1)
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &at);
  return text;
}

std::vector<certificate_name> names_of(const X509* certificate) {
  std::vector<certificate_name> found;
  auto* all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; all && i < std::min(sk_GENERAL_NAME_num(all), most_names); ++i) {
    const auto* one = sk_GENERAL_NAME_value(all, i);
    if (one->type != GEN_URI)
      continue;
    const auto* text = one->d.uniformResourceIdentifier;
    auto name =
        certificate_name::parse({reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                 static_cast<size_t>(std::max(ASN1_STRING_length(text), 0))});
    if (name)
      found.push_back(*std::move(name));
  }
  GENERAL_NAMES_free(all);
  return found;
}

// Behind "its certificate" or "our certificate".
std::string why_not_believed(int error, const X509* certificate, const std::string& authority) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return concat("has expired on ", date_of(X509_get0_notAfter(certificate)),
                    "; issue another one (troupe certs)");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return concat("is not valid before ", date_of(X509_get0_notBefore(certificate)),
                    "; compare the clocks");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return concat("is not signed by the authority in ", authority,
                    "; both ends need certificates of one authority");
    case X509_V_ERR_INVALID_PURPOSE:
      return "may not be used for this end of a connection; a task needs one that was issued for a "
             "task (troupe certs)";
    default: return concat("is not valid: ", X509_verify_cert_error_string(error));
  }
}

// What the other end says when it gives up.
std::string meaning_of_alert(int alert, const tls_files& ours) {
  switch (alert) {
    case SSL_AD_UNKNOWN_CA:
      return concat("it does not know who signed our certificate ", ours.certificate,
                    "; both ends need certificates of one authority");
    case SSL_AD_CERTIFICATE_EXPIRED:
      return concat("our certificate ", ours.certificate,
                    " has expired by its clock; issue another one (troupe certs)");
    case SSL_AD_BAD_CERTIFICATE:
      return concat("it does not accept whom our certificate ", ours.certificate, " names");
    case SSL_AD_PROTOCOL_VERSION:
      return "it speaks no TLS 1.3; give it a certificate, a key and an authority";
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "it wants a certificate, and takes no tokens: it has no access list with some";
    default: return concat("it ends TLS: ", SSL_alert_desc_string_long(alert));
  }
}

// How a file looked when it was read.
struct stamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;
  int64_t changed_ns = 0;
  bool operator==(const stamp&) const = default;
};

stamp stamp_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return {};
  return {found.st_dev, found.st_ino, found.st_size,
          int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
}

using stamps = std::array<stamp, 3>; // the token is read each time
stamps stamps_of(const tls_files& files) {
  return {stamp_of(files.certificate), stamp_of(files.key), stamp_of(files.authority)};
}

int verify_peer(int fine, X509_STORE_CTX* chain);

bool is_mismatch(int reason) {
  return reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH;
}

// No passphrase is asked for at a terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

status own_is_valid(SSL_CTX* context, const tls_options& options) {
  auto* certificate = SSL_CTX_get0_certificate(context);
  const auto& path = options.files.certificate;
  STACK_OF(X509)* between = nullptr;
  SSL_CTX_get0_chain_certs(context, &between);
  std::unique_ptr<X509_STORE_CTX, freed<X509_STORE_CTX_free>> chain{X509_STORE_CTX_new()};
  if (!chain ||
      X509_STORE_CTX_init(chain.get(), SSL_CTX_get_cert_store(context), certificate, between) != 1)
    return failure(error_kind::resource_exhausted, "no memory to check ", path);
  if (X509_verify_cert(chain.get()) != 1)
    return failure(error_kind::failed_precondition, "the certificate ", path, ' ',
                   why_not_believed(X509_STORE_CTX_get_error(chain.get()), certificate,
                                    options.files.authority));
  auto names = names_of(certificate);
  if (options.self ? !covers(names, options.cluster, *options.self)
                   : std::ranges::none_of(
                         names, [&](const auto& one) { return one.cluster == options.cluster; })) {
    auto wanted = options.self
                      ? concat("not ", certificate_name::of_task(options.cluster, *options.self))
                      : concat("and none of the cluster '", options.cluster, "'");
    return failure(error_kind::failed_precondition, "the certificate ", path, " names ",
                   list_of(names), ", ", wanted);
  }
  return {};
}

status read_own(SSL_CTX* context, const tls_files& files) {
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    return invalid("the file ", files.certificate, " has no certificate in PEM");
  auto other = failure(error_kind::invalid_argument, "the key ", files.key,
                       " is not that of the certificate ", files.certificate);
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return is_mismatch(ERR_GET_REASON(ERR_peek_last_error()))
               ? other
               : invalid("the file ", files.key, " has no private key in PEM without a passphrase");
  return SSL_CTX_check_private_key(context) == 1 ? status{} : other;
}

result<std::shared_ptr<SSL_CTX>> read_files(const tls_options& options) {
  const auto& files = options.files;
  if (options.self && !files.token.empty())
    return invalid("a task shows a certificate, not the token ", files.token);
  auto anonymous = files.certificate.empty() && files.key.empty() && !options.self;
  if (files.authority.empty() || (anonymous && files.token.empty()) ||
      (!anonymous && (files.certificate.empty() || files.key.empty())))
    return invalid(
        "TLS takes a certificate, a key and an authority, or of a client an authority and "
        "a token, got certificate '",
        files.certificate, "', key '", files.key, "', authority '", files.authority,
        "' and token '", files.token, "'");
  for (const auto& [what, path] :
       {std::pair{"certificate", files.certificate}, std::pair{"key", files.key},
        std::pair{"authority", files.authority}, std::pair{"token", files.token}})
    if (!path.empty() && ::access(path.c_str(), R_OK) != 0)
      return failure(error_kind::not_found, "cannot read the ", what, ' ', path, ": ",
                     std::strerror(errno));
  ERR_clear_error();
  context_ptr made{SSL_CTX_new(TLS_method())};
  auto* context = made.get();
  if (!context || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                        "TLS_CHACHA20_POLY1305_SHA256") != 1)
    return failure(error_kind::internal, "OpenSSL has no TLS 1.3");
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  if (!anonymous)
    TROUPE_TRY(read_own(context, files));
  if (SSL_CTX_load_verify_file(context, files.authority.c_str()) != 1)
    return invalid("the file ", files.authority, " has no certificate in PEM");
  // Who stands there is believed, whoever has signed it.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
  // Tickets would let a peer come back whose certificate is not believed any more.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_cert_list(context, longest_certificates);
  SSL_CTX_set_verify_depth(context, longest_chain);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verify_peer);
  if (!anonymous)
    TROUPE_TRY(own_is_valid(context, options));
  return std::shared_ptr<SSL_CTX>{std::move(made)};
}

BIO_METHOD* carrier();

// Of a handshake, and of what changes keys after it, before data comes.
constexpr size_t most_messages = 64;
// That has not left: what we write is less, and the rest is answers.
constexpr size_t most_output = 256 * 1024;
// Of AES-GCM; a third of what RFC 8446 (5.5) allows.
constexpr uint64_t records_per_key = uint64_t{1} << 23;

class openssl_session final : public tls_session {
public:
  openssl_session(const std::shared_ptr<SSL_CTX>& context,
                  std::shared_ptr<const tls_options> options, bool calls,
                  std::optional<task_name> expected, bool anonymous, source from)
      : options_(std::move(options)), expected_(std::move(expected)), from_(std::move(from)),
        ssl_(SSL_new(context.get())) {
    auto* bio = BIO_new(carrier());
    if (!ssl_ || !bio) {
      BIO_free(bio);
      throw std::bad_alloc{};
    }
    BIO_set_data(bio, this);
    SSL_set_bio(ssl_.get(), bio, bio); // owns it
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_msg_callback(ssl_.get(), on_message);
    SSL_set_msg_callback_arg(ssl_.get(), this);
    if (options_->now)
      X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl_.get()),
                                 std::chrono::system_clock::to_time_t(options_->now()));
    if (anonymous)
      SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, verify_peer);
    if (calls)
      SSL_set_connect_state(ssl_.get());
    else
      SSL_set_accept_state(ssl_.get());
  }
  openssl_session(const openssl_session&) = delete;
  openssl_session& operator=(const openssl_session&) = delete;

  result<bool> shake_hands() override {
    if (!failed_)
      return failed_;
    ERR_clear_error();
    auto outcome = SSL_do_handshake(ssl_.get());
    if (outcome == 1)
      return true;
    if (SSL_get_error(ssl_.get(), outcome) == SSL_ERROR_WANT_READ)
      return false;
    failed_ = why_no_handshake();
    return failed_;
  }

  const std::vector<certificate_name>& peer() const noexcept override { return names_; }

  ssize_t read(std::span<std::byte> to) override {
    size_t got = 0;
    if (failed_.ok() && !ended_) {
      ERR_clear_error();
      if (SSL_read_ex(ssl_.get(), to.data(), to.size(), &got) == 1) {
        messages_ = 0;
        return static_cast<ssize_t>(got);
      }
      auto error = SSL_get_error(ssl_.get(), 0);
      if (error == SSL_ERROR_WANT_READ) {
        errno = EAGAIN;
        return -1;
      }
      if (source_error_ != 0 && !brings_nothing()) {
        errno = source_error_;
        return -1;
      }
      if (brings_nothing())
        failed_ = failure(error_kind::data_loss, "TLS: it changes keys again and again, and brings "
                                                 "nothing, or does not read what is answered");
      else if (error != SSL_ERROR_ZERO_RETURN && !ended_)
        failed_ = why_broken();
    }
    if (failed_.ok())
      return 0;
    errno = EPROTO;
    return -1;
  }

  size_t pending() const noexcept override {
    return static_cast<size_t>(std::max(SSL_pending(ssl_.get()), 0));
  }

  bool write(std::span<const std::byte> from) override {
    constexpr size_t of_a_record = 64, record = 16 * 1024;
    if (!failed_.ok())
      return false;
    written_ += from.size() / record + 1;
    if (written_ > records_per_key && !change_keys())
      return false;
    output_.reserve(output_.size() + from.size() + (from.size() / record + 1) * of_a_record);
    ERR_clear_error();
    size_t taken = 0;
    if (from.empty() ||
        (SSL_write_ex(ssl_.get(), from.data(), from.size(), &taken) == 1 && taken == from.size()))
      return true;
    failed_ = why_broken();
    return false;
  }

  bool change_keys() override {
    written_ = 0;
    ERR_clear_error();
    if (failed_.ok() && SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
        SSL_do_handshake(ssl_.get()) == 1)
      return true;
    if (failed_.ok())
      failed_ = why_broken();
    return false;
  }

  std::vector<std::byte>& output() noexcept override { return output_; }
  const status& failed() const noexcept override { return failed_; }

  // -- what OpenSSL calls

  ssize_t fetch(std::span<std::byte> to) noexcept {
    source_error_ = brings_nothing() ? EPROTO : 0;
    if (source_error_ != 0) {
      errno = source_error_;
      return -1;
    }
    ssize_t came = -1;
    try {
      came = from_(to);
    } catch (const std::exception&) {
      errno = ENOMEM;
    }
    if (came == 0)
      ended_ = true;
    else if (came < 0 && errno != EAGAIN)
      source_error_ = errno;
    return came;
  }

  bool emit(std::span<const std::byte> what) noexcept {
    try {
      output_.insert(output_.end(), what.begin(), what.end());
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  bool believes(bool fine, X509_STORE_CTX* chain) noexcept {
    try {
      const auto* certificate = X509_STORE_CTX_get_current_cert(chain);
      auto depth = X509_STORE_CTX_get_error_depth(chain);
      if (!fine) {
        refused_ = concat(depth == 0 ? "its certificate " : "a certificate behind its own ",
                          why_not_believed(X509_STORE_CTX_get_error(chain), certificate,
                                           options_->files.authority));
        return false;
      }
      if (depth > 0)
        return true;
      names_ = names_of(certificate);
      auto named = expected_ ? covers(names_, options_->cluster, *expected_)
                             : std::ranges::any_of(names_, [&](const auto& one) {
                                 return one.cluster == options_->cluster;
                               });
      if (named) { // what it is elsewhere gives it no rights here
        std::erase_if(names_, [&](const auto& one) { return one.cluster != options_->cluster; });
        return true;
      }
      auto wanted = expected_
                        ? concat("not ", certificate_name::of_task(options_->cluster, *expected_))
                        : concat("and none of the cluster '", options_->cluster, "'");
      refused_ = concat("its certificate names ", list_of(names_), ", ", wanted);
    } catch (const std::exception&) { // memory is short
    }
    X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH);
    return false;
  }

private:
  // A call of OpenSSL's returns when there is data: whoever sends messages without any, which cost
  // us more than they cost it, would keep the thread for ever, and answers in our memory.
  bool brings_nothing() const noexcept {
    return messages_ > most_messages || output_.size() > most_output;
  }

  static void on_message(int sent, int, int type, const void*, size_t, SSL*, void* me) noexcept {
    if (sent == 0 && type == SSL3_RT_HANDSHAKE)
      ++static_cast<openssl_session*>(me)->messages_;
  }

  // OpenSSL's, of the last call. Since version 3.2 an error of a record is followed by one that
  // says no more than that.
  static unsigned long last_error() noexcept {
#ifdef SSL_R_RECORD_LAYER_FAILURE
    if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_RECORD_LAYER_FAILURE)
      return ERR_peek_error();
#endif
    return ERR_peek_last_error();
  }

  status why_no_handshake() const {
    if (!refused_.empty())
      return failure(error_kind::failed_precondition, refused_);
    if (ended_)
      return failure(error_kind::unavailable,
                     "it closed the connection during the TLS handshake; it may serve without TLS, "
                     "or another TLS");
    if (source_error_ != 0)
      return failure(error_kind::unavailable, "TLS handshake: ", std::strerror(source_error_));
    switch (ERR_GET_REASON(last_error())) {
      case SSL_R_WRONG_VERSION_NUMBER:
      case SSL_R_HTTP_REQUEST:
      case SSL_R_HTTPS_PROXY_REQUEST:
      case SSL_R_PACKET_LENGTH_TOO_LONG:
      case SSL_R_BAD_PACKET_LENGTH:
      case SSL_R_UNEXPECTED_MESSAGE:
        return failure(error_kind::failed_precondition, "what it sends is no TLS; give both ends a "
                                                        "certificate, a key and an authority");
      case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return failure(error_kind::failed_precondition, "it shows no certificate");
      case SSL_R_UNSUPPORTED_PROTOCOL:
        return failure(error_kind::failed_precondition, "it speaks no TLS 1.3");
      default: return why_broken();
    }
  }

  status why_broken() const {
    auto reason = ERR_GET_REASON(last_error());
    if (reason >= SSL_AD_REASON_OFFSET)
      return failure(error_kind::failed_precondition,
                     meaning_of_alert(reason - SSL_AD_REASON_OFFSET, options_->files));
    if (reason == SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC)
      return failure(error_kind::data_loss,
                     "what came over TLS was changed, repeated or left out on its way");
    const auto* words = ERR_reason_error_string(last_error());
    return failure(error_kind::data_loss, "TLS: ", words ? words : "it broke a rule");
  }

  const std::shared_ptr<const tls_options> options_;
  const std::optional<task_name> expected_;
  const source from_;
  std::vector<std::byte> output_;
  std::vector<certificate_name> names_;
  std::string refused_; // why the other end is not believed
  status failed_;
  bool ended_ = false;
  int source_error_ = 0;
  size_t messages_ = 0;  // of handshakes, since data came
  uint64_t written_ = 0; // records, with one key
  ssl_ptr ssl_;          // last: what it calls is there as long as it
};

int verify_peer(int fine, X509_STORE_CTX* chain) {
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* session = static_cast<openssl_session*>(SSL_get_app_data(ssl));
  return session->believes(fine == 1, chain) ? 1 : 0;
}

BIO_METHOD* carrier() {
  static BIO_METHOD* const made = [] {
    auto* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "troupe");
    BIO_meth_set_create(method, [](BIO* bio) {
      BIO_set_init(bio, 1);
      return 1;
    });
    BIO_meth_set_read(method, [](BIO* bio, char* to, int size) {
      BIO_clear_retry_flags(bio);
      auto came = static_cast<openssl_session*>(BIO_get_data(bio))
                      ->fetch({reinterpret_cast<std::byte*>(to), static_cast<size_t>(size)});
      if (came < 0 && errno == EAGAIN)
        BIO_set_retry_read(bio);
      return static_cast<int>(came);
    });
    BIO_meth_set_write(method, [](BIO* bio, const char* from, int size) {
      BIO_clear_retry_flags(bio);
      auto* session = static_cast<openssl_session*>(BIO_get_data(bio));
      return session->emit({reinterpret_cast<const std::byte*>(from), static_cast<size_t>(size)})
                 ? size
                 : -1;
    });
    BIO_meth_set_ctrl(method, [](BIO*, int command, long, void*) -> long {
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return method;
  }();
  return made;
}

class file_identity final : public tls_identity {
public:
  file_identity(tls_options options, const stamps& read, std::shared_ptr<SSL_CTX> context)
      : options_(std::make_shared<const tls_options>(std::move(options))), read_(read),
        context_(std::move(context)) {}

  std::unique_ptr<tls_session> call(const std::optional<task_name>& expected,
                                    tls_session::source from) override {
    return std::make_unique<openssl_session>(current(), options_, true, expected, false,
                                             std::move(from));
  }
  std::unique_ptr<tls_session> answer(tls_session::source from, bool anonymous) override {
    return std::make_unique<openssl_session>(current(), options_, false, std::nullopt, anonymous,
                                             std::move(from));
  }
  result<std::string> token() const override {
    const auto& path = options_->files.token;
    return path.empty() ? result<std::string>{std::string{}} : read_token_file(path);
  }

private:
  // Three questions to the system: little beside a handshake.
  std::shared_ptr<SSL_CTX> current() {
    std::string warning;
    std::shared_ptr<SSL_CTX> found;
    {
      std::lock_guard guard{mutex_};
      if (auto now = stamps_of(options_->files); now != read_) {
        read_ = now; // what cannot be used is not read again until it changes
        auto made = read_files(*options_);
        if (made)
          context_ = *std::move(made);
        else
          warning = concat("the files for TLS have changed, and those of before serve on: ",
                           made.status().message());
      }
      found = context_;
    }
    if (!warning.empty() && options_->on_warning)
      options_->on_warning(warning);
    return found;
  }

  const std::shared_ptr<const tls_options> options_;
  std::mutex mutex_; // of what follows
  stamps read_;
  std::shared_ptr<SSL_CTX> context_;
};

} // namespace

result<std::shared_ptr<tls_identity>> tls_identity::load(tls_options options) {
  auto read = stamps_of(options.files);
  TROUPE_ASSIGN(auto context, read_files(options));
  return std::shared_ptr<tls_identity>{
      std::make_shared<file_identity>(std::move(options), read, std::move(context))};
}

std::string cluster_of_certificate(const std::string& path) {
  std::unique_ptr<BIO, freed<BIO_free>> file{BIO_new_file(path.c_str(), "r")};
  std::unique_ptr<X509, freed<X509_free>> certificate{
      file ? PEM_read_bio_X509(file.get(), nullptr, no_passphrase, nullptr) : nullptr};
  ERR_clear_error();
  if (!certificate)
    return {};
  auto names = names_of(certificate.get());
  return !names.empty() &&
                 std::ranges::all_of(
                     names, [&](const auto& one) { return one.cluster == names.front().cluster; })
             ? names.front().cluster
             : std::string{};
}

bool begins_as_tls(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x16} && bytes[1] == std::byte{0x03};
}

} // namespace troupe
