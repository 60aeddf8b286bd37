// TLS between two ends in memory: which peers are trusted, what each end is told, and the effects
// of damage.
#include "troupe/serialization/tls/tls.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "troupe/serialization/tls/token.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <numeric>
#include <random>

namespace troupe::test::tls_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<tls_identity> identity_of(tls_options options) {
  auto identity = tls_identity::load(std::move(options));
  INFO(identity.status());
  REQUIRE(identity);
  return *std::move(identity);
}

// Bytes on their way to an end.
struct pipe_end {
  std::vector<std::byte> bytes;
  bool closed = false;
  size_t most = SIZE_MAX; // the maximum per read
  ssize_t read(std::span<std::byte> to) {
    auto part = std::min({to.size(), bytes.size(), most});
    if (part == 0) {
      errno = EAGAIN;
      return closed ? 0 : -1;
    }
    std::memcpy(to.data(), bytes.data(), part);
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(part));
    return static_cast<ssize_t>(part);
  }
};

// A client that calls worker 0, and worker 0.
struct two_ends {
  two_ends(const std::shared_ptr<tls_identity>& client, const std::shared_ptr<tls_identity>& server,
           bool anonymous = false)
      : caller(client->connect(task_name{"worker", 0},
                               [this](auto to) { return to_caller.read(to); })),
        called(server->accept([this](auto to) { return to_called.read(to); }, anonymous)) {}

  static void move(tls_session& from, pipe_end& to) {
    to.bytes.insert(to.bytes.end(), from.output().begin(), from.output().end());
    from.output().clear();
  }
  // Runs until nothing moves. The final outcomes of the two ends are returned.
  void continue_handshake() {
    for (int i = 0; i < 10'000; ++i) {
      auto sizes_before = std::pair{to_caller.bytes.size(), to_called.bytes.size()};
      of_caller = caller->continue_handshake();
      move(*caller, to_called);
      of_called = called->continue_handshake();
      move(*called, to_caller);
      if (sizes_before == std::pair{to_caller.bytes.size(), to_called.bytes.size()} && i > 0)
        return;
    }
    FAIL("the handshake does not end");
  }
  // The error that the caller reads from a server that has refused it.
  status heard_by_caller() {
    if (of_caller.status().kind() != error_kind::ok)
      return of_caller.status();
    std::byte single_byte{};
    (void)caller->read({&single_byte, 1});
    return caller->failed();
  }

  pipe_end to_caller, to_called;
  std::unique_ptr<tls_session> caller, called;
  result<bool> of_caller = false, of_called = false;
};

struct usual_ends {
  test_authority authority;
  std::shared_ptr<tls_identity> client = identity_of({authority.client("alice"), ""}),
                                server =
                                    identity_of({authority.task("worker", 0), "", {{"worker", 0}}});
  two_ends ends{client, server};
};

std::string read_all(tls_session& from) {
  std::string text;
  for (;;) {
    std::byte bytes[5000];
    auto count_read = from.read(bytes);
    if (count_read <= 0)
      return text;
    text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count_read));
  }
}

bool write(tls_session& to, std::string_view text) {
  return to.write({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

} // namespace

TEST_CASE("an end learns only the peer's name within its own cluster") {
  test_authority authority;
  auto client = identity_of({authority.issue({certificate_name::of_task("b", {"worker", 0}),
                                              certificate_name::of_client("a", "alice"),
                                              certificate_name::of_client("b", "admin")}),
                             "a"});
  auto server = identity_of({authority.issue({certificate_name::of_job("b", "ps"),
                                              certificate_name::of_task("a", {"worker", 0})}),
                             "a",
                             {{"worker", 0}}});
  two_ends ends{client, server};
  ends.continue_handshake();
  REQUIRE(ends.of_called);
  CHECK(format_names(ends.called->peer()) == "troupe://a/client:alice");
  CHECK(format_names(ends.caller->peer()) == "troupe://a/job:worker/task:0");
}

TEST_CASE("two ends of one authority trust each other, and bytes arrive unchanged") {
  usual_ends usual;
  auto& ends = usual.ends;
  ends.continue_handshake();
  REQUIRE(ends.of_caller);
  REQUIRE(ends.of_called);
  CHECK(*ends.of_caller);
  CHECK(*ends.of_called);
  CHECK(format_names(ends.called->peer()) == "troupe:///client:alice");
  CHECK(format_names(ends.caller->peer()) == "troupe:///job:worker/task:0");
  std::string text(100'000, 'x');
  std::iota(text.begin(), text.end(), 'a');
  ends.to_called.most = 777;
  REQUIRE(write(*ends.caller, text));
  CHECK(ends.caller->output().size() > text.size());
  ends.move(*ends.caller, ends.to_called);
  auto clear = std::string_view{reinterpret_cast<const char*>(ends.to_called.bytes.data()),
                                ends.to_called.bytes.size()};
  CHECK(clear.find(text.substr(1000, 20)) == clear.npos);
  CHECK(read_all(*ends.called) == text);
  REQUIRE(write(*ends.called, "answer"));
  ends.move(*ends.called, ends.to_caller);
  CHECK(read_all(*ends.caller) == "answer");
  ends.to_caller.closed = true;
  std::byte single_byte{};
  CHECK(ends.caller->read({&single_byte, 1}) == 0);
}

TEST_CASE("keys are renewed while data is sent, and endless renewals without data are refused") {
  usual_ends usual;
  auto& ends = usual.ends;
  ends.continue_handshake();
  REQUIRE(ends.of_called);
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(ends.caller->change_keys());
    REQUIRE(write(*ends.caller, "data"));
    ends.move(*ends.caller, ends.to_called);
    REQUIRE(ends.called->change_keys());
    REQUIRE(write(*ends.called, "answer"));
    ends.move(*ends.called, ends.to_caller);
    REQUIRE(read_all(*ends.called) == "data");
    REQUIRE(read_all(*ends.caller) == "answer");
  }
  for (int i = 0; i < 20'000; ++i)
    REQUIRE(ends.caller->change_keys());
  ends.move(*ends.caller, ends.to_called);
  auto buffered_bytes = ends.to_called.bytes.size();
  std::byte single_byte{};
  CHECK(ends.called->read({&single_byte, 1}) == -1);
  CHECK(errno == EPROTO);
  CHECK(ends.called->failed().kind() == error_kind::data_loss);
  CHECK_THAT(ends.called->failed().message(), Contains("changes keys again and again"));
  CHECK(ends.to_called.bytes.size() > buffered_bytes / 2); // the remaining bytes were not processed
}

TEST_CASE("a handshake succeeds for any division of its bytes") {
  usual_ends usual;
  usual.ends.to_caller.most = usual.ends.to_called.most = 1;
  usual.ends.continue_handshake();
  CHECK(usual.ends.of_caller);
  CHECK(usual.ends.of_called);
}

TEST_CASE(
    "certificates of another authority are refused by either end, with an error at the two ends") {
  test_authority own_authority, other_authority;
  auto server = identity_of({own_authority.task("worker", 0), "", {{"worker", 0}}});
  two_ends strangers{identity_of({other_authority.client("mallory"), ""}), server};
  strangers.continue_handshake();
  CHECK(strangers.of_caller.status().kind() == error_kind::failed_precondition);
  CHECK_THAT(strangers.of_caller.status().message(),
             Contains("is not signed by the authority in " + other_authority.file()));

  // The caller trusts the called end, but is not trusted by it.
  auto mixed = other_authority.client("mallory");
  mixed.authority = own_authority.file();
  auto refused = tls_identity::load({mixed, ""}).status();
  CHECK(refused.kind() == error_kind::failed_precondition);
  CHECK_THAT(refused.message(), Contains(mixed.certificate + " is not signed by the authority in"));
  auto mallory = other_authority.client("mallory");
  std::ofstream{mallory.authority, std::ios::app} << std::ifstream{own_authority.file()}.rdbuf();
  two_ends half{identity_of({mallory, ""}), server};
  half.continue_handshake();
  CHECK(half.of_called.status().kind() == error_kind::failed_precondition);
  CHECK_THAT(half.of_called.status().message(), Contains("is not signed by the authority in"));
  auto heard = half.heard_by_caller();
  CHECK(heard.kind() == error_kind::failed_precondition);
  CHECK_THAT(heard.message(),
             Contains("does not know the issuer of our certificate " + mallory.certificate));
}

TEST_CASE("a task other than the called one is refused by its name") {
  test_authority authority;
  auto client = identity_of({authority.client("alice"), ""});
  for (const auto& [files, self] : {std::pair{authority.task("worker", 1), task_name{"worker", 1}},
                                    std::pair{authority.task("ps", 0), task_name{"ps", 0}}}) {
    two_ends ends{client, identity_of({files, "", self})};
    ends.continue_handshake();
    CHECK(ends.of_caller.status().kind() == error_kind::failed_precondition);
    CHECK_THAT(ends.of_caller.status().message(),
               Contains("its certificate names " + to_string(certificate_name::of_task("", self)) +
                        ", not troupe:///job:worker/task:0"));
  }
  two_ends job{client, identity_of({authority.issue({certificate_name::of_job("", "worker")}),
                                    "",
                                    {{"worker", 0}}})};
  job.continue_handshake();
  CHECK(job.of_caller);
}

TEST_CASE("a client's certificate is not accepted for a task") {
  test_authority authority;
  auto files = authority.client("alice");
  auto refused = tls_identity::load({files, "", {{"worker", 0}}}).status();
  CHECK_THAT(refused.message(),
             Contains("names troupe:///client:alice, not troupe:///job:worker/task:0"));
}

TEST_CASE("processes of clusters with different names do not trust each other") {
  test_authority authority;
  auto server = identity_of({authority.task("worker", 0, "one"), "one", {{"worker", 0}}});
  two_ends ends{identity_of({authority.client("alice", "two"), "two"}), server};
  ends.continue_handshake();
  CHECK_THAT(ends.of_caller.status().message(),
             Contains("names troupe://one/job:worker/task:0, not troupe://two/job:worker/task:0"));
  auto outcome = tls_identity::load({authority.client("alice", "two"), "one"}).status();
  CHECK_THAT(outcome.message(), Contains("none of the cluster 'one'"));
}

TEST_CASE("an expired certificate is reported with its date, by the end that checks first") {
  test_authority authority;
  auto start_date = std::chrono::system_clock::now() - 48h;
  auto old = authority.issue({certificate_name::of_task("", {"worker", 0})},
                             {start_date - 24h, start_date});
  auto outcome = tls_identity::load({old, "", {{"worker", 0}}}).status();
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains(old.certificate + " has expired on 20"));

  auto later = [] { return std::chrono::system_clock::now() + 24h * 365; };
  auto files = authority.client("alice");
  auto task_files = authority.task("worker", 0);
  {
    two_ends ends{identity_of({files, "", {}, later}),
                  identity_of({task_files, "", {{"worker", 0}}})};
    ends.continue_handshake();
    CHECK_THAT(ends.of_caller.status().message(), Contains("has expired on 20"));
  }
  two_ends ends{identity_of({files, ""}), identity_of({task_files, "", {{"worker", 0}}, later})};
  ends.continue_handshake();
  CHECK_THAT(ends.of_called.status().message(), Contains("has expired on 20"));
  CHECK_THAT(ends.heard_by_caller().message(),
             Contains("our certificate " + files.certificate + " has expired by its clock"));
}

TEST_CASE("missing or unusable files are named") {
  test_authority authority;
  auto good = authority.client("alice");
  auto outcome_of = [](const tls_files& files) { return tls_identity::load({files, ""}).status(); };
  auto without = good;
  without.key = "";
  CHECK_THAT(outcome_of(without).message(),
             Contains("TLS takes a certificate, a key and an authority"));
  auto missing = good;
  missing.key += "s";
  CHECK(outcome_of(missing).kind() == error_kind::not_found);
  CHECK_THAT(outcome_of(missing).message(), Contains("cannot read the key " + missing.key));
  auto swapped = good;
  swapped.certificate = good.key;
  CHECK_THAT(outcome_of(swapped).message(), Contains(good.key + " has no certificate in PEM"));
  swapped = good;
  swapped.key = good.certificate;
  CHECK_THAT(outcome_of(swapped).message(),
             Contains(good.certificate + " has no private key in PEM"));
  swapped = good;
  swapped.authority = good.key;
  CHECK_THAT(outcome_of(swapped).message(), Contains(good.key + " has no certificate in PEM"));
  auto mixed = good;
  mixed.key = authority.client("bob").key;
  CHECK_THAT(outcome_of(mixed).message(), Contains(mixed.key + " is not that of the certificate"));
}

TEST_CASE("a client without a certificate is anonymous, and accepted only if that is allowed") {
  test_authority authority;
  auto server = identity_of({authority.task("worker", 0), "", {{"worker", 0}}});
  auto client = identity_of({authority.token("a-secret-of-the-client"), ""});
  auto token = client->token();
  REQUIRE(token);
  CHECK(*token == "a-secret-of-the-client");
  {
    two_ends ends{client, server};
    ends.continue_handshake();
    CHECK_THAT(ends.of_called.status().message(), Contains("it shows no certificate"));
    CHECK_THAT(ends.heard_by_caller().message(),
               Contains("requires a certificate, and takes no tokens"));
  }
  two_ends ends{client, server, true};
  ends.continue_handshake();
  CHECK(ends.of_called);
  CHECK(ends.called->peer().empty());

  // A presented certificate must still be trusted.
  test_authority other_authority;
  auto mallory = other_authority.client("mallory");
  std::ofstream{mallory.authority, std::ios::app} << std::ifstream{authority.file()}.rdbuf();
  two_ends strangers{identity_of({mallory, ""}), server, true};
  strangers.continue_handshake();
  CHECK_THAT(strangers.of_called.status().message(), Contains("is not signed by the authority"));
}

TEST_CASE("a file without a token is named, and a token's digest identifies it") {
  test_authority authority;
  for (const auto* text :
       {"", "short", "has a space in the middle of it", "not printable \x01 at all"}) {
    INFO(text);
    auto files = authority.token(text);
    auto token = identity_of({files, ""})->token();
    CHECK(token.status().kind() == error_kind::invalid_argument);
    CHECK_THAT(token.status().message(), Contains(files.token + " has no token"));
  }
  auto first_token = new_token(), second_token = new_token();
  CHECK(first_token != second_token);
  CHECK(first_token.size() == 64);
  CHECK(digest_of_token(first_token) != digest_of_token(second_token));
  CHECK(digest_of_token("test") ==
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
  auto task = authority.task("worker", 0);
  task.token = authority.token(first_token).token;
  CHECK_THAT(tls_identity::load({task, "", {{"worker", 0}}}).status().message(),
             Contains("a task shows a certificate, not the token"));
}

TEST_CASE(
    "bytes that were changed, repeated, reordered or left out on their way end the connection") {
  for (auto tampering : {"changed", "repeated", "reordered", "left out"}) {
    INFO(tampering);
    usual_ends usual;
    auto& ends = usual.ends;
    ends.continue_handshake();
    REQUIRE(ends.of_called);
    std::deque<std::vector<std::byte>> records;
    for (auto text : {"first", "second", "third"}) {
      REQUIRE(write(*ends.caller, text));
      records.push_back(ends.caller->output());
      ends.caller->output().clear();
    }
    std::string expected_text = "first";
    if (tampering == std::string_view{"changed"}) {
      records[1][8] ^= std::byte{1};
    } else if (tampering == std::string_view{"repeated"}) {
      records[1] = records[0];
    } else if (tampering == std::string_view{"reordered"}) {
      std::swap(records[1], records[2]);
    } else {
      records.erase(records.begin() + 1);
    }
    for (const auto& tls_record : records)
      ends.to_called.bytes.insert(ends.to_called.bytes.end(), tls_record.begin(), tls_record.end());
    CHECK(read_all(*ends.called) == expected_text);
    CHECK(ends.called->failed().kind() == error_kind::data_loss);
    CHECK_THAT(ends.called->failed().message(), Contains("changed, repeated or left out"));
    std::byte single_byte{};
    CHECK(ends.called->read({&single_byte, 1}) == -1);
    CHECK(errno == EPROTO);
  }
}

TEST_CASE("bytes of a recorded connection cannot be replayed in another one") {
  usual_ends first;
  std::vector<std::byte> recorded;
  auto& ends = first.ends;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(ends.caller->continue_handshake());
    recorded.insert(recorded.end(), ends.caller->output().begin(), ends.caller->output().end());
    ends.move(*ends.caller, ends.to_called);
    REQUIRE(ends.called->continue_handshake());
    ends.move(*ends.called, ends.to_caller);
  }
  REQUIRE(write(*ends.caller, "register"));
  recorded.insert(recorded.end(), ends.caller->output().begin(), ends.caller->output().end());
  two_ends second{first.client, first.server};
  second.to_called.bytes = recorded;
  auto outcome = second.called->continue_handshake();
  CHECK(!outcome);
  CHECK(outcome.status().kind() != error_kind::ok);
}

TEST_CASE("noise instead of a handshake is refused, and a truncated handshake is unavailable") {
  usual_ends usual;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  for (int i = 0; i < 50; ++i) {
    two_ends ends{usual.client, usual.server};
    for (int n = 0; n < 200; ++n)
      ends.to_called.bytes.push_back(static_cast<std::byte>(dice()));
    if (i % 2 == 0) { // a handshake record that contains noise
      ends.to_called.bytes[0] = std::byte{0x16};
      ends.to_called.bytes[1] = std::byte{3};
      ends.to_called.bytes[3] = std::byte{0};
    }
    ends.to_called.closed = true;
    CHECK(!ends.called->continue_handshake());
  }
  two_ends ends{usual.client, usual.server};
  ends.to_caller.closed = true;
  auto outcome = ends.caller->continue_handshake();
  CHECK(outcome.status().kind() == error_kind::unavailable);
  CHECK_THAT(outcome.status().message(), Contains("it may serve without TLS"));
}

TEST_CASE(
    "files that have changed are used for the next connection, and bad ones are passed over") {
  test_authority authority;
  auto files = authority.task("worker", 0);
  std::vector<std::string> warnings;
  auto server = identity_of(
      {files, "", {{"worker", 0}}, {}, [&](const std::string& text) { warnings.push_back(text); }});
  auto client = identity_of({authority.client("alice"), ""});
  auto names_now = [&] {
    two_ends ends{client, server};
    ends.continue_handshake();
    INFO(ends.of_caller.status());
    CHECK(ends.of_caller);
    return format_names(ends.caller->peer());
  };
  CHECK(names_now() == "troupe:///job:worker/task:0");
  authority.replace(files, {certificate_name::of_job("", "worker")});
  CHECK(names_now() == "troupe:///job:worker");
  CHECK(warnings.empty());
  // A name of another task, and then no name.
  authority.replace(files, {certificate_name::of_task("", {"ps", 0})});
  CHECK(names_now() == "troupe:///job:worker");
  CHECK(names_now() == "troupe:///job:worker");
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("those of before serve on") && Contains("/job:ps/task:0") &&
                              Contains(files.certificate));
  std::filesystem::remove(files.key);
  CHECK(names_now() == "troupe:///job:worker");
  CHECK(warnings.size() == 2);
  authority.replace(files, {certificate_name::of_task("", {"worker", 0})});
  CHECK(names_now() == "troupe:///job:worker/task:0");
}

} // namespace troupe::test::tls_test
