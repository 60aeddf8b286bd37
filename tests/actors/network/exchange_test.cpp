// Connections: their number, and the memory that a peer takes that does not read.
#include "troupe/actors/network/exchange.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/access_control.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/process_memory_reader.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::test::exchange_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

exchange_options options_of(std::shared_ptr<step_server> server = nullptr) {
  exchange_options options;
  options.self.role = "task";
  options.self.job = "worker";
  options.server = std::move(server);
  options.peer_timeout = 10s * timeout_factor();
  return options;
}

// The first message of a client's link.
std::string greeting(hello peer_hello = {}) {
  link_options options;
  options.self = std::move(peer_hello);
  options.self.role = "client";
  troupe::link peer{options, {}};
  std::vector<char> bytes;
  peer.fill(bytes, 1 << 20);
  return {bytes.begin(), bytes.end()};
}

// A message as bytes on a connection.
std::string framed(const message& content) {
  auto body = encode(content);
  REQUIRE(body);
  auto header = header_for(frame_kind::message, 0, body->bytes);
  std::string frame{reinterpret_cast<const char*>(header.data()), header.size()};
  return frame.append(reinterpret_cast<const char*>(body->bytes.data()), body->bytes.size());
}

// An exchange, and the peer's end of its connection.
struct connected {
  explicit connected(std::shared_ptr<step_server> server = nullptr) {
    auto listening = listen_at({"127.0.0.1", 0});
    REQUIRE(listening);
    std::atomic<bool> stop{false};
    auto dialed = dial({"127.0.0.1", listening->second}, step_clock::now() + 5s, stop);
    REQUIRE(dialed);
    auto accepted = ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(accepted >= 0);
    other_end = std::make_unique<plain_connection>(accepted);
    exchange = spawn_exchange(system, dialed->release(), options_of(std::move(server)));
  }
  ~connected() {
    caf::anon_send_exit(exchange, caf::exit_reason::user_shutdown);
    exchange = nullptr;
  }
  // Sends a hello, as a link does, and nothing else.
  void introduce(hello peer_hello = {}) {
    REQUIRE(other_end->write(greeting(std::move(peer_hello))));
  }

  system_config config{1, true};
  caf::actor_system system{config};
  std::unique_ptr<plain_connection> other_end;
  caf::actor exchange;
};

// Counts the bytes that are written.
class counting_stream final : public byte_stream {
public:
  counting_stream(int socket, std::atomic<size_t>& written)
      : wrapped_(make_socket_stream(socket)), written_(written) {}
  int id() const noexcept override { return wrapped_->id(); }
  ssize_t read(std::span<const iovec> places) override { return wrapped_->read(places); }
  ssize_t write(std::span<const iovec> pieces) override {
    auto size = wrapped_->write(pieces);
    if (size > 0)
      written_ += static_cast<size_t>(size);
    return size;
  }
  int socket() const noexcept override { return wrapped_->socket(); }
  void shut_down_writing() override { wrapped_->shut_down_writing(); }
  void shut_down() override { wrapped_->shut_down(); }
  void drop_input() override { wrapped_->drop_input(); }

private:
  std::unique_ptr<byte_stream> wrapped_;
  std::atomic<size_t>& written_;
};

// Admits every peer as a client that may run steps.
struct one_account final : access_control {
  bool accepts_tokens() override { return true; }
  status check_token(const hello&) override { return {}; }
  result<std::shared_ptr<peer_account>> admit(const hello&,
                                              const std::vector<certificate_name>&) override {
    return std::make_shared<peer_account>("eve", access_rights{.may_run = true});
  }
};

// The exchanges of two tasks, one at each end of a connection. With an access list, the sender is a
// client.
struct two_ends {
  explicit two_ends(bool same_host_reads = false, std::shared_ptr<access_control> list = nullptr)
      : access(std::move(list)) {
    auto listening = listen_at({"127.0.0.1", 0});
    REQUIRE(listening);
    std::atomic<bool> stop{false};
    auto dialed = dial({"127.0.0.1", listening->second}, step_clock::now() + 5s, stop);
    REQUIRE(dialed);
    auto accepted =
        ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    REQUIRE(accepted >= 0);
    from = open(dialed->release(), sender, bytes_left, same_host_reads);
    to = open(accepted, receiver, came_back, same_host_reads);
  }
  ~two_ends() {
    for (auto* end : {&from, &to})
      caf::anon_send_exit(*end, caf::exit_reason::user_shutdown);
    from = to = nullptr;
  }
  caf::actor open(int socket, const std::shared_ptr<step_server>& server,
                  std::atomic<size_t>& count, bool same_host_reads) {
    auto options = options_of(server);
    options.same_host_reads = same_host_reads;
    options.loop = io_loop::of(system);
    if (server == receiver)
      options.owner = caf::actor_cast<caf::actor>(owner);
    if (access && server == sender)
      options.self.role = "client";
    else
      options.access_control = access;
    return spawn_exchange(system, std::make_unique<counting_stream>(socket, count),
                          std::move(options));
  }
  // Waits until that many bytes were sent, or sending has stopped.
  size_t wait_until_left(size_t bytes) {
    for (size_t before = 0, quiet = 0; bytes_left < bytes && quiet < 20; ++quiet) {
      if (auto now = bytes_left.load(); now != before)
        before = now, quiet = 0;
      std::this_thread::sleep_for(20ms);
    }
    return bytes_left;
  }

  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor owner{system}; // owns the messages to the receiver
  std::atomic<size_t> bytes_left{0}, came_back{0};
  std::shared_ptr<access_control> access;
  std::shared_ptr<step_server> sender = std::make_shared<step_server>(task_name{"worker", 0}),
                               receiver = std::make_shared<step_server>(task_name{"worker", 1});
  caf::actor from, to;
};

double seconds_of_processor(pid_t process) {
  std::ifstream file{concat("/proc/", process, "/stat")};
  std::string skipped;
  for (int i = 0; i < 13; ++i)
    file >> skipped;
  double user = 0, kernel = 0;
  file >> user >> kernel;
  return (user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace

TEST_CASE(
    "a cut-off peer's bytes are dropped up to a limit, so that it cannot delay the closing side") {
  int descriptors[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors) == 0);
  auto cut_off = make_socket_stream(descriptors[0]);
  plain_connection peer{descriptors[1]};
  const std::string bytes(16 * 1024, 'x');
  size_t sent_bytes = 0;
  for (ssize_t now = 0; now >= 0; sent_bytes += static_cast<size_t>(std::max<ssize_t>(now, 0)))
    now = ::send(peer.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  REQUIRE(sent_bytes > 136 * 1024);
  cut_off->drop_input();
  char rest_byte = 0;
  CHECK(::recv(descriptors[0], &rest_byte, 1, MSG_DONTWAIT) == 1);
  for (int i = 0; i < 100; ++i) // fewer bytes are sent in one piece
    cut_off->drop_input();
  CHECK(::recv(descriptors[0], &rest_byte, 1, MSG_DONTWAIT) < 0);
}

TEST_CASE("a connection that the system cannot poll ends at once, with a reason") {
  struct unwatched final : byte_stream {
    unwatched() : file(::open("/dev/null", O_RDWR | O_CLOEXEC)) {} // cannot be polled
    ~unwatched() override { ::close(file); }
    int id() const noexcept override { return file; }
    ssize_t read(std::span<const iovec>) override { return errno = EAGAIN, -1; }
    ssize_t write(std::span<const iovec>) override { return errno = EAGAIN, -1; }
    void shut_down_writing() override {}
    void shut_down() override {}
    void drop_input() override {}
    const int file;
  };
  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor receiver{system};
  auto options = options_of();
  options.loop = io_loop::of(system);
  options.opener = receiver->address();
  auto exchange = spawn_exchange(system, std::make_unique<unwatched>(), std::move(options));
  bool is_reported = false;
  receiver->receive(
      [&](const peer_gone& lost_peer) {
        is_reported = true;
        CHECK_THAT(lost_peer.reason.message(),
                   Contains("cannot watch the socket: Operation not perm"));
      },
      caf::after(500ms) >> [] {});
  CHECK(is_reported);
  caf::anon_send_exit(exchange, caf::exit_reason::user_shutdown);
}

TEST_CASE("a listening socket that the system cannot poll is an error of its creation") {
  system_config config{1, true};
  caf::actor_system system{config}; // ends: no actor is left
  auto file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto options = options_of();
  options.address = "h:10";
  auto listener = spawn_listener(system, file, std::move(options));
  REQUIRE_FALSE(listener);
  CHECK_THAT(listener.status().message(),
             Contains("h:10") && Contains("cannot watch the socket: Operation not perm"));
  CHECK(becomes_true([&] { return ::fcntl(file, F_GETFD) < 0; }));
}

TEST_CASE("a connection beyond the limit is refused with a message, until another has ended") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config};
  auto listening = listen_at({"127.0.0.1", 0});
  REQUIRE(listening);
  auto options = options_of();
  options.max_connections = 2;
  auto port = listening->second;
  auto listener = spawn_listener(system, listening->first.release(), std::move(options));
  REQUIRE(listener);
  {
    plain_connection first{port}, second{port}, third{port};
    for (auto* connection : {&first, &second}) {
      REQUIRE(connection->write(greeting()));
      char byte = 0;
      // Its hello: the connection has an exchange.
      REQUIRE(::recv(connection->descriptor(), &byte, 1, 0) == 1);
    }
    REQUIRE(third.write(greeting()));
    bool closed = false;
    auto answer_text = third.read_to_end(closed);
    CHECK(closed);
    CHECK_THAT(answer_text,
               Contains("/job:worker/task:0 has 2 connections already, which is the limit"));
  }
  auto is_answered = [&] {
    plain_connection retried{port};
    retried.write(greeting());
    char byte = 0;
    return ::recv(retried.descriptor(), &byte, 1, 0) == 1 &&
           ::recv(retried.descriptor(), &byte, 1, MSG_DONTWAIT) == 1;
  };
  CHECK(is_answered());
  caf::anon_send_exit(*listener, caf::exit_reason::user_shutdown);
}

TEST_CASE("a task without a free descriptor neither spins nor stops accepting later") {
  watchdog watch;
  auto cluster = make_cluster(1);
  task_process server{cluster, {"worker", 0}};
  const text_case small{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"};
  REQUIRE(run_all(*connect_to(cluster), small).empty());
  auto used = footprint_of(server.pid()).descriptors;
  rlimit few_descriptors{static_cast<rlim_t>(used) + 3, static_cast<rlim_t>(used) + 3}, before{};
  REQUIRE(::prlimit(server.pid(), RLIMIT_NOFILE, &few_descriptors, &before) == 0);
  auto colon = cluster.jobs["worker"][0].rfind(':');
  auto port = static_cast<uint16_t>(std::stoi(cluster.jobs["worker"][0].substr(colon + 1)));
  {
    std::vector<plain_connection> connections;
    for (int i = 0; i < 20; ++i)
      connections.emplace_back(port);
    auto processor_seconds = seconds_of_processor(server.pid());
    std::this_thread::sleep_for(500ms);
    CHECK(seconds_of_processor(server.pid()) - processor_seconds < 0.25);
    bool closed = false;
    connections.back().read_to_end(closed);
    CHECK(closed); // closed at once, not left waiting
  }
  CHECK(run_all(*connect_to(cluster), small).empty());
}

TEST_CASE("a peer that does not read fails steps, and costs no more memory than the limit") {
  watchdog watch;
  auto server = std::make_shared<step_server>(task_name{"worker", 0});
  connected pair{server};
  pair.introduce();
  auto value = tensor::make(dtype::u8, shape{60'000});
  REQUIRE(value);
  auto before = footprint_of(::getpid()).resident_kib;
  for (int i = 0; i < 3000; ++i) // 180 MB
    caf::anon_send(pair.exchange,
                   outgoing{tensor_push{{0, 7}, static_cast<uint32_t>(i), false, *value}});
  if (size_is_telling)
    CHECK(footprint_of(::getpid()).resident_kib - before < 110 * 1024);
  auto outcome = server->steps().admit({0, 7});
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK_THAT(outcome.message(),
             Contains("sending to") &&
                 Contains("bytes of messages are queued already, the limit is 67108864"));
}

TEST_CASE("the reports of an unsendable answer are carried by the refusal that replaces it") {
  watchdog watch;
  two_ends pair;
  session_run_result large;
  large.fetches.assign(50'000, tensor::scalar(1)); // more than one message may hold
  caf::anon_send(pair.from, outgoing{session_reply{.request = 5,
                                                   .is_draining = true,
                                                   .warnings = {"beware"},
                                                   .content = std::move(large),
                                                   .state_peers = {{"/job:ps/task:0", 11}},
                                                   .losses = {{"/job:ps/task:0", 3}},
                                                   .initializations = {{"/job:ps/task:1"}}}});
  auto has_come = false;
  pair.owner->receive([&](const incoming& incoming_message) {
    has_come = true;
    REQUIRE(std::holds_alternative<session_reply>(incoming_message.content));
    const auto& reply = std::get<session_reply>(incoming_message.content);
    CHECK(reply.request == 5);
    CHECK(reply.outcome.kind() == error_kind::resource_exhausted);
    CHECK(reply.is_draining);
    CHECK(reply.warnings == std::vector<std::string>{"beware"});
    REQUIRE(reply.state_peers.size() == 1);
    CHECK(reply.state_peers[0].incarnation == 11);
    REQUIRE(reply.losses.size() == 1);
    CHECK(reply.losses[0].number == 3);
    REQUIRE(reply.initializations.size() == 1);
    CHECK(reply.initializations[0].task == "/job:ps/task:1");
  });
  CHECK(has_come);
}

TEST_CASE("announcements of a client of an access list are not kept among the tensors of tasks") {
  watchdog watch;
  auto is_client = GENERATE(true, false);
  two_ends pair{false, is_client ? std::make_shared<one_account>() : nullptr};
  auto value = tensor::make(dtype::u8, shape{1'000'000});
  REQUIRE(value);
  const step_id step{0, 7};
  REQUIRE(pair.sender->steps().admit(step));
  caf::anon_send(pair.from, outgoing{tensor_push{step, 1, false, *value}});
  CHECK(pair.wait_until_left(value->bytes()) < 5000);
  REQUIRE(pair.receiver->steps().admit(step)); // the receiver would request it
  CHECK((pair.wait_until_left(value->bytes()) < 5000) == is_client);
  pair.sender->steps().end(step, true);
}

TEST_CASE("few bytes of a large tensor are still sent after its step is cancelled") {
  watchdog watch;
  two_ends pair;
  constexpr size_t size = size_is_telling ? size_t{1} << 30 : size_t{64} << 20;
  auto value = tensor::make(dtype::u8, shape{static_cast<int64_t>(size)});
  REQUIRE(value);
  const step_id step{0, 7}, next{0, 8};
  auto cancellation = failure(error_kind::cancelled, "enough");
  REQUIRE(pair.sender->steps().admit(step));
  caf::anon_send(pair.from, outgoing{tensor_push{step, 1, false, *value}});
  SECTION("before the tensor arrives: none") {
    CHECK(pair.wait_until_left(size) < 5000);
    pair.receiver->steps().abort(step, cancellation, nullptr);
    CHECK(pair.wait_until_left(size) < 5000);
  }
  // Beyond the systems' buffers: that is one write and one chunk.
  constexpr size_t buffers = size_t{12} << 20;
  SECTION("during the transfer, by the receiver") {
    REQUIRE(pair.receiver->steps().admit(step));
    auto before = pair.wait_until_left(1 << 20);
    pair.receiver->steps().abort(step, cancellation, nullptr);
    CHECK(pair.wait_until_left(size) < before + buffers);
  }
  SECTION("during the transfer, by the sender") {
    REQUIRE(pair.receiver->steps().admit(step));
    auto before = pair.wait_until_left(1 << 20);
    pair.sender->steps().end(step, true);
    CHECK(pair.wait_until_left(size) < before + buffers);
  }
  pair.sender->steps().end(step, true);
  for (int i = 0; i < 500 && !value->unique(); ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(value->unique()); // the sender does not hold it any more
  // All promised memory has returned: another tensor passes.
  REQUIRE(pair.receiver->steps().admit(next));
  auto before = pair.bytes_left.load();
  auto small = tensor::make(dtype::u8, shape{1'000'000});
  REQUIRE(small);
  caf::anon_send(pair.from, outgoing{tensor_push{next, 1, false, *small}});
  CHECK(pair.wait_until_left(before + 1'000'000) > before + 1'000'000);
}

TEST_CASE(
    "a large tensor is sent to a process on the same host in one copy, however its step ends") {
  watchdog watch;
  two_ends pair{true};
  auto value = tensor::make(dtype::u8, shape{64 << 20});
  REQUIRE(value);
  const step_id step{0, 7};
  REQUIRE(pair.sender->steps().admit(step));
  REQUIRE(pair.receiver->steps().admit(step));
  caf::anon_send(pair.from, outgoing{tensor_push{step, 1, false, *value}});
  SECTION("it succeeds") {}
  SECTION("it is cancelled at the receiver") {
    pair.receiver->steps().abort(step, failure(error_kind::cancelled, "enough"), nullptr);
  }
  SECTION("it fails at the sender") { pair.sender->steps().end(step, true); }
  SECTION("a process ends") { caf::anon_send_exit(pair.from, caf::exit_reason::user_shutdown); }
  for (int i = 0; i < 500 && !value->unique(); ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(value->unique());
  if (pair.bytes_left > 10'000)
    WARN("this system does not let processes read others' memory");
}

namespace {

// Both ends of a connection between processes on one host.
struct near_sockets {
  near_sockets() {
    auto listening = listen_at({"127.0.0.1", 0});
    REQUIRE(listening);
    their_end = std::make_unique<plain_connection>(listening->second);
    auto accepted = ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(accepted >= 0);
    our_end = std::make_unique<plain_connection>(accepted);
    for (size_t i = 0; i < 2; ++i)
      token.words[i] = peer_hello.token[i] = 1234567 + i;
    peer_hello.process_id = static_cast<uint32_t>(::getpid());
    peer_hello.token_address = reinterpret_cast<uint64_t>(token.words.data());
  }
  std::unique_ptr<plain_connection> their_end, our_end;
  lending_token token;
  hello peer_hello;
};

} // namespace

TEST_CASE("memory is read from the process at the other end, and only while the process lends it") {
  near_sockets pair;
  auto& peer_hello = pair.peer_hello;
  auto find = [&] { return process_memory_reader::find(pair.our_end->descriptor(), peer_hello); };
  CHECK(process_memory_reader::within_machine(pair.our_end->descriptor()));
  CHECK(!process_memory_reader::within_machine(-1));
  auto reader = find();
  if (!reader) {
    WARN("this system does not let processes read others' memory");
    return;
  }
  std::string value = "lies here", read(value.size(), ' ');
  std::span buffer{reinterpret_cast<std::byte*>(read.data()), read.size()};
  auto from = reinterpret_cast<uint64_t>(value.data());
  CHECK(reader->read(buffer, from).ok());
  CHECK(read == value);
  CHECK(reader->read(buffer, 8).kind() == error_kind::invalid_argument);
  CHECK(reader->read(buffer, UINT64_MAX - 3).kind() == error_kind::invalid_argument);
  CHECK(reader->read(buffer, uint64_t{1} << 63).kind() == error_kind::invalid_argument);
  SECTION("the process withdraws it") {
    pair.token.revoke();
    CHECK(reader->read(buffer, from).kind() == error_kind::unavailable);
    CHECK(!find());
  }
  SECTION("the peer names another process") {
    peer_hello.process_id = static_cast<uint32_t>(::getppid());
    CHECK(!find());
    peer_hello.process_id = 1;
    CHECK(!find());
    peer_hello.process_id = UINT32_MAX;
    CHECK(!find());
  }
  SECTION("its token differs, or is at no address") {
    ++peer_hello.token[1];
    CHECK(!find());
    peer_hello.token_address = 8;
    CHECK(!find());
  }
  SECTION("the process lends no memory") {
    peer_hello.process_id = 0;
    CHECK(!find());
  }
}

TEST_CASE("reading from a process that has ended reports its end") {
  near_sockets pair;
  auto child = ::fork(); // it inherits everything of this process, its sockets included
  if (child == 0)
    for (;;)
      ::pause();
  REQUIRE(child > 0);
  pair.peer_hello.process_id = static_cast<uint32_t>(child);
  auto reader = process_memory_reader::find(pair.our_end->descriptor(), pair.peer_hello);
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  if (!reader) {
    WARN("this system does not let processes read others' memory");
    return;
  }
  std::byte read{};
  auto outcome = reader->read({&read, 1}, reinterpret_cast<uint64_t>(&read));
  CHECK(outcome.kind() == error_kind::unavailable);
  CHECK(outcome.message() == "its process has ended");
}

TEST_CASE("a peer that lends memory that it does not have is disconnected with a reason") {
  watchdog watch;
  connected pair{std::make_shared<step_server>(task_name{"worker", 0})};
  lending_token token;
  hello peer_hello;
  peer_hello.process_id = static_cast<uint32_t>(::getpid());
  peer_hello.token_address = reinterpret_cast<uint64_t>(token.words.data());
  token.words[0] = peer_hello.token[0] = 42;
  pair.introduce(peer_hello);
  auto value = tensor::make(dtype::u8, shape{1'000'000});
  REQUIRE(value);
  auto answer = encode(step_done{1, {}, {{0, *value}}});
  auto encoded_loan = encode(loan{1, 8});
  REQUIRE((answer && encoded_loan));
  auto write = [&](const encoded_message& encoded, uint64_t transfer) {
    auto header = header_for(frame_kind::message, transfer, encoded.bytes);
    REQUIRE(pair.other_end->write({reinterpret_cast<const char*>(header.data()), header.size()}));
    REQUIRE(pair.other_end->write(
        {reinterpret_cast<const char*>(encoded.bytes.data()), encoded.bytes.size()}));
  };
  write(*answer, 1);
  write(*encoded_loan, 0);
  bool closed = false;
  auto answer_text = pair.other_end->read_to_end(closed);
  CHECK(closed);
  if (answer_text.find("which was not requested") != answer_text.npos)
    WARN("this system does not let processes read others' memory");
  else
    CHECK_THAT(answer_text, Contains("bytes of memory that it does not have"));
}

TEST_CASE("requests to a peer that has gone are answered, also later ones") {
  watchdog watch;
  connected pair;
  pair.introduce();
  std::this_thread::sleep_for(20ms);
  pair.other_end = nullptr;
  for (int i = 0; i < 2; ++i) {
    caf::scoped_actor self{pair.system, true};
    status outcome;
    self->request(pair.exchange, 5s,
                  run_request{.handle = 1, .step = {0, 1}, .deadline = {}, .feeds = {}})
        .receive([](const step_result&) {},
                 [&](const caf::error& reason) { outcome = from_caf(reason); });
    CHECK(outcome.kind() == error_kind::unavailable);
    CHECK_THAT(outcome.message(), Contains("client"));
  }
}

TEST_CASE(
    "a peer that does not read answers gets no more of them; tensors do not count as answers") {
  watchdog watch;
  auto limits_answers = GENERATE(true, false);
  connected pair;
  pair.introduce();
  REQUIRE(pair.other_end->write(framed(inspect_request{.request = 1, .ref = {}})));
  auto large = tensor::make(dtype::u8, shape{80'000'000});
  std::this_thread::sleep_for(20ms);
  if (limits_answers)
    caf::anon_send(pair.exchange, outgoing{inspect_reply{1, {}, *large}});
  else
    caf::anon_send(pair.exchange, outgoing{step_done{1, {}, {{0, *large}}}});
  std::this_thread::sleep_for(20ms);
  REQUIRE(pair.other_end->write(framed(state_list_request{7})));
  bool closed = false;
  auto answer_text = pair.other_end->read_to_end(closed);
  CHECK((answer_text.find("has not read") != answer_text.npos) == limits_answers);
  CHECK(!closed);
}

TEST_CASE("a peer with too many unread answers is refused, and its accepted requests complete") {
  watchdog watch;
  connected pair;
  pair.introduce();
  // The test does not answer: the first requests wait, and the refusal counts the others as too
  // many.
  std::string requests;
  for (int i = 0; i < 70; ++i)
    requests += framed(inspect_request{.request = 7, .ref = {}});
  REQUIRE(pair.other_end->write(requests));
  bool closed = false;
  auto answer_text = pair.other_end->read_to_end(closed);
  CHECK(!closed);
  size_t refused = 0;
  for (auto position = answer_text.find("unanswered requests, which is the limit");
       position != answer_text.npos;
       position = answer_text.find("unanswered requests, which is the limit", position + 1))
    ++refused;
  CHECK(refused == 6);
}

} // namespace troupe::test::exchange_test
