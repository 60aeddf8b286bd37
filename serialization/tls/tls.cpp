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
constexpr long longest_certificates = 32 * 1024; // of a peer, before it is authenticated
constexpr int most_names = 64;

template <auto Free>
struct freed {
  template <class T>
  void operator()(T* owned) const noexcept {
    Free(owned);
  }
};
using context_ptr = std::unique_ptr<SSL_CTX, freed<SSL_CTX_free>>;
using ssl_ptr = std::unique_ptr<SSL, freed<SSL_free>>;

std::string date_of(const ASN1_TIME* when) {
  tm fields{};
  char text[32] = "an unknown time";
  if (when && ASN1_TIME_to_tm(when, &fields) == 1)
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &fields);
  return text;
}

std::vector<certificate_name> names_of(const X509* certificate) {
  std::vector<certificate_name> names;
  auto* alternatives = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; alternatives && i < std::min(sk_GENERAL_NAME_num(alternatives), most_names);
       ++i) {
    const auto* alternative = sk_GENERAL_NAME_value(alternatives, i);
    if (alternative->type != GEN_URI)
      continue;
    const auto* text = alternative->d.uniformResourceIdentifier;
    auto name =
        certificate_name::parse({reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                 static_cast<size_t>(std::max(ASN1_STRING_length(text), 0))});
    if (name)
      names.push_back(*std::move(name));
  }
  GENERAL_NAMES_free(alternatives);
  return names;
}

// Returns the predicate of a sentence about "its certificate" or "our certificate".
std::string why_not_trusted(int error, const X509* certificate, const std::string& authority) {
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

// Explains an alert that the other end sent.
std::string meaning_of_alert(int alert, const tls_files& own_files) {
  switch (alert) {
    case SSL_AD_UNKNOWN_CA:
      return concat("it does not know the issuer of our certificate ", own_files.certificate,
                    "; both ends need certificates of one authority");
    case SSL_AD_CERTIFICATE_EXPIRED:
      return concat("our certificate ", own_files.certificate,
                    " has expired by its clock; issue another one (troupe certs)");
    case SSL_AD_BAD_CERTIFICATE:
      return concat("it rejects the names in our certificate ", own_files.certificate);
    case SSL_AD_PROTOCOL_VERSION:
      return "it speaks no TLS 1.3; give it a certificate, a key and an authority";
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "it requires a certificate, and takes no tokens: its access list has none";
    default: return concat("it ends TLS: ", SSL_alert_desc_string_long(alert));
  }
}

// The version of a file at the time of reading.
struct stamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;
  int64_t changed_ns = 0;
  bool operator==(const stamp&) const = default;
};

stamp stamp_of(const std::string& path) {
  struct stat file_stat {};
  if (::stat(path.c_str(), &file_stat) != 0)
    return {};
  return {file_stat.st_dev, file_stat.st_ino, file_stat.st_size,
          int64_t{file_stat.st_mtim.tv_sec} * 1'000'000'000 + file_stat.st_mtim.tv_nsec};
}

using stamps = std::array<stamp, 3>; // without the token, which is read each time
stamps stamps_of(const tls_files& files) {
  return {stamp_of(files.certificate), stamp_of(files.key), stamp_of(files.authority)};
}

int verify_peer(int is_valid, X509_STORE_CTX* chain);

bool is_mismatch(int reason) {
  return reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH;
}

// Fails instead of asking for a passphrase at a terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

status check_own_certificate(SSL_CTX* context, const tls_options& options) {
  auto* certificate = SSL_CTX_get0_certificate(context);
  const auto& path = options.files.certificate;
  STACK_OF(X509)* intermediates = nullptr;
  SSL_CTX_get0_chain_certs(context, &intermediates);
  std::unique_ptr<X509_STORE_CTX, freed<X509_STORE_CTX_free>> chain{X509_STORE_CTX_new()};
  if (!chain || X509_STORE_CTX_init(chain.get(), SSL_CTX_get_cert_store(context), certificate,
                                    intermediates) != 1)
    return failure(error_kind::resource_exhausted, "no memory to check ", path);
  if (X509_verify_cert(chain.get()) != 1)
    return failure(error_kind::failed_precondition, "the certificate ", path, ' ',
                   why_not_trusted(X509_STORE_CTX_get_error(chain.get()), certificate,
                                   options.files.authority));
  auto names = names_of(certificate);
  if (options.self ? !covers(names, options.cluster, *options.self)
                   : std::ranges::none_of(names, [&](const auto& name) {
                       return name.cluster == options.cluster;
                     })) {
    auto expectation =
        options.self ? concat("not ", certificate_name::of_task(options.cluster, *options.self))
                     : concat("and none of the cluster '", options.cluster, "'");
    return failure(error_kind::failed_precondition, "the certificate ", path, " names ",
                   format_names(names), ", ", expectation);
  }
  return {};
}

status read_own(SSL_CTX* context, const tls_files& files) {
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    return invalid("the file ", files.certificate, " has no certificate in PEM");
  auto mismatch = failure(error_kind::invalid_argument, "the key ", files.key,
                          " is not that of the certificate ", files.certificate);
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return is_mismatch(ERR_GET_REASON(ERR_peek_last_error()))
               ? mismatch
               : invalid("the file ", files.key, " has no private key in PEM without a passphrase");
  return SSL_CTX_check_private_key(context) == 1 ? status{} : mismatch;
}

result<std::shared_ptr<SSL_CTX>> read_files(const tls_options& options) {
  const auto& files = options.files;
  if (options.self && !files.token.empty())
    return invalid("a task shows a certificate, not the token ", files.token);
  auto is_anonymous = files.certificate.empty() && files.key.empty() && !options.self;
  if (files.authority.empty() || (is_anonymous && files.token.empty()) ||
      (!is_anonymous && (files.certificate.empty() || files.key.empty())))
    return invalid(
        "TLS takes a certificate, a key and an authority, or of a client an authority and "
        "a token, got certificate '",
        files.certificate, "', key '", files.key, "', authority '", files.authority,
        "' and token '", files.token, "'");
  for (const auto& [kind, path] :
       {std::pair{"certificate", files.certificate}, std::pair{"key", files.key},
        std::pair{"authority", files.authority}, std::pair{"token", files.token}})
    if (!path.empty() && ::access(path.c_str(), R_OK) != 0)
      return failure(error_kind::not_found, "cannot read the ", kind, ' ', path, ": ",
                     std::strerror(errno));
  ERR_clear_error();
  context_ptr owned_context{SSL_CTX_new(TLS_method())};
  auto* context = owned_context.get();
  if (!context || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                        "TLS_CHACHA20_POLY1305_SHA256") != 1)
    return failure(error_kind::internal, "OpenSSL has no TLS 1.3");
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  if (!is_anonymous)
    TROUPE_TRY(read_own(context, files));
  if (SSL_CTX_load_verify_file(context, files.authority.c_str()) != 1)
    return invalid("the file ", files.authority, " has no certificate in PEM");
  // Certificates in the authority's file are trusted, even if another authority signed them.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
  // Tickets would let a peer resume after its certificate is no longer trusted.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_cert_list(context, longest_certificates);
  SSL_CTX_set_verify_depth(context, longest_chain);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verify_peer);
  if (!is_anonymous)
    TROUPE_TRY(check_own_certificate(context, options));
  return std::shared_ptr<SSL_CTX>{std::move(owned_context)};
}

BIO_METHOD* carrier();

// The maximum of handshake messages, and of key updates after it, without data.
constexpr size_t most_messages = 64;
// The limit of unsent output. Own writes are smaller; the excess is answers to key updates.
constexpr size_t most_output = 256 * 1024;
// For AES-GCM; a third of the limit of RFC 8446 (5.5).
constexpr uint64_t records_per_key = uint64_t{1} << 23;

class openssl_session final : public tls_session {
public:
  openssl_session(const std::shared_ptr<SSL_CTX>& context,
                  std::shared_ptr<const tls_options> options, bool is_caller,
                  std::optional<task_name> expected, bool is_anonymous, source input)
      : options_(std::move(options)), expected_(std::move(expected)), input_(std::move(input)),
        ssl_(SSL_new(context.get())) {
    auto* bio = BIO_new(carrier());
    if (!ssl_ || !bio) {
      BIO_free(bio);
      throw std::bad_alloc{};
    }
    BIO_set_data(bio, this);
    SSL_set_bio(ssl_.get(), bio, bio); // takes ownership
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_msg_callback(ssl_.get(), on_message);
    SSL_set_msg_callback_arg(ssl_.get(), this);
    if (options_->now)
      X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl_.get()),
                                 std::chrono::system_clock::to_time_t(options_->now()));
    if (is_anonymous)
      SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, verify_peer);
    if (is_caller)
      SSL_set_connect_state(ssl_.get());
    else
      SSL_set_accept_state(ssl_.get());
  }
  openssl_session(const openssl_session&) = delete;
  openssl_session& operator=(const openssl_session&) = delete;

  result<bool> continue_handshake() override {
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

  ssize_t read(std::span<std::byte> target) override {
    size_t count = 0;
    if (failed_.ok() && !ended_) {
      ERR_clear_error();
      if (SSL_read_ex(ssl_.get(), target.data(), target.size(), &count) == 1) {
        messages_ = 0;
        return static_cast<ssize_t>(count);
      }
      auto error = SSL_get_error(ssl_.get(), 0);
      if (error == SSL_ERROR_WANT_READ) {
        errno = EAGAIN;
        return -1;
      }
      if (source_error_ != 0 && !exceeds_limits()) {
        errno = source_error_;
        return -1;
      }
      if (exceeds_limits())
        failed_ = failure(error_kind::data_loss, "TLS: it changes keys again and again without "
                                                 "data, or does not read the answers");
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

  bool write(std::span<const std::byte> bytes) override {
    constexpr size_t record_overhead = 64, record = 16 * 1024;
    if (!failed_.ok())
      return false;
    written_ += bytes.size() / record + 1;
    if (written_ > records_per_key && !change_keys())
      return false;
    output_.reserve(output_.size() + bytes.size() + (bytes.size() / record + 1) * record_overhead);
    ERR_clear_error();
    size_t count = 0;
    if (bytes.empty() || (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count) == 1 &&
                          count == bytes.size()))
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

  // -- callbacks of OpenSSL

  ssize_t fetch(std::span<std::byte> target) noexcept {
    source_error_ = exceeds_limits() ? EPROTO : 0;
    if (source_error_ != 0) {
      errno = source_error_;
      return -1;
    }
    ssize_t count = -1;
    try {
      count = input_(target);
    } catch (const std::exception&) {
      errno = ENOMEM;
    }
    if (count == 0)
      ended_ = true;
    else if (count < 0 && errno != EAGAIN)
      source_error_ = errno;
    return count;
  }

  bool emit(std::span<const std::byte> bytes) noexcept {
    try {
      output_.insert(output_.end(), bytes.begin(), bytes.end());
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  bool trusts(bool is_valid, X509_STORE_CTX* chain) noexcept {
    try {
      const auto* certificate = X509_STORE_CTX_get_current_cert(chain);
      auto depth = X509_STORE_CTX_get_error_depth(chain);
      if (!is_valid) {
        refused_ = concat(depth == 0 ? "its certificate " : "a certificate of its chain ",
                          why_not_trusted(X509_STORE_CTX_get_error(chain), certificate,
                                          options_->files.authority));
        return false;
      }
      if (depth > 0)
        return true;
      names_ = names_of(certificate);
      auto is_expected = expected_ ? covers(names_, options_->cluster, *expected_)
                                   : std::ranges::any_of(names_, [&](const auto& name) {
                                       return name.cluster == options_->cluster;
                                     });
      if (is_expected) { // names of other clusters give no rights here
        std::erase_if(names_, [&](const auto& name) { return name.cluster != options_->cluster; });
        return true;
      }
      auto expectation =
          expected_ ? concat("not ", certificate_name::of_task(options_->cluster, *expected_))
                    : concat("and none of the cluster '", options_->cluster, "'");
      refused_ = concat("its certificate names ", format_names(names_), ", ", expectation);
    } catch (const std::exception&) { // out of memory
    }
    X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH);
    return false;
  }

private:
  // A call of OpenSSL returns when there is data. Without these limits, a peer that sends messages
  // without data, at little cost, could keep the thread busy, and fill the memory with answers.
  bool exceeds_limits() const noexcept {
    return messages_ > most_messages || output_.size() > most_output;
  }

  static void on_message(int sent, int, int type, const void*, size_t, SSL*,
                         void* session) noexcept {
    if (sent == 0 && type == SSL3_RT_HANDSHAKE)
      ++static_cast<openssl_session*>(session)->messages_;
  }

  // The error of the last call. Since version 3.2 an error of a record is followed by a second one
  // without further information.
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
        return failure(error_kind::failed_precondition, "it does not send TLS; give both ends a "
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
                     "data over TLS was changed, repeated or left out on its way");
    const auto* reason_text = ERR_reason_error_string(last_error());
    return failure(error_kind::data_loss, "TLS: ", reason_text ? reason_text : "it broke a rule");
  }

  const std::shared_ptr<const tls_options> options_;
  const std::optional<task_name> expected_;
  const source input_;
  std::vector<std::byte> output_;
  std::vector<certificate_name> names_;
  std::string refused_; // why the other end is not trusted
  status failed_;
  bool ended_ = false;
  int source_error_ = 0;
  size_t messages_ = 0;  // of handshakes, since the last data
  uint64_t written_ = 0; // records with the current key
  ssl_ptr ssl_;          // last member: its callbacks use the others
};

int verify_peer(int is_valid, X509_STORE_CTX* chain) {
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* session = static_cast<openssl_session*>(SSL_get_app_data(ssl));
  return session->trusts(is_valid == 1, chain) ? 1 : 0;
}

BIO_METHOD* carrier() {
  static BIO_METHOD* const shared_method = [] {
    auto* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "troupe");
    BIO_meth_set_create(method, [](BIO* bio) {
      BIO_set_init(bio, 1);
      return 1;
    });
    BIO_meth_set_read(method, [](BIO* bio, char* to, int size) {
      BIO_clear_retry_flags(bio);
      auto count = static_cast<openssl_session*>(BIO_get_data(bio))
                       ->fetch({reinterpret_cast<std::byte*>(to), static_cast<size_t>(size)});
      if (count < 0 && errno == EAGAIN)
        BIO_set_retry_read(bio);
      return static_cast<int>(count);
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
  return shared_method;
}

class file_identity final : public tls_identity {
public:
  file_identity(tls_options options, const stamps& read, std::shared_ptr<SSL_CTX> context)
      : options_(std::make_shared<const tls_options>(std::move(options))), read_(read),
        context_(std::move(context)) {}

  std::unique_ptr<tls_session> connect(const std::optional<task_name>& expected,
                                       tls_session::source input) override {
    return std::make_unique<openssl_session>(current(), options_, true, expected, false,
                                             std::move(input));
  }
  std::unique_ptr<tls_session> accept(tls_session::source input, bool anonymous) override {
    return std::make_unique<openssl_session>(current(), options_, false, std::nullopt, anonymous,
                                             std::move(input));
  }
  result<std::string> token() const override {
    const auto& path = options_->files.token;
    return path.empty() ? result<std::string>{std::string{}} : read_token_file(path);
  }

private:
  // Three system calls, which cost little beside a handshake.
  std::shared_ptr<SSL_CTX> current() {
    std::string warning;
    std::shared_ptr<SSL_CTX> context;
    {
      std::lock_guard guard{mutex_};
      if (auto current_stamps = stamps_of(options_->files); current_stamps != read_) {
        read_ = current_stamps; // files that cannot be used are not read again until they change
        auto reloaded = read_files(*options_);
        if (reloaded)
          context_ = *std::move(reloaded);
        else
          warning = concat("the files for TLS have changed, and those of before serve on: ",
                           reloaded.status().message());
      }
      context = context_;
    }
    if (!warning.empty() && options_->on_warning)
      options_->on_warning(warning);
    return context;
  }

  const std::shared_ptr<const tls_options> options_;
  std::mutex mutex_; // of the following members
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
                     names, [&](const auto& name) { return name.cluster == names.front().cluster; })
             ? names.front().cluster
             : std::string{};
}

bool begins_as_tls(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x16} && bytes[1] == std::byte{0x03};
}

} // namespace troupe
