// Connections as such: how many there may be, and what a peer costs that does not read.
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
#include "troupe/actors/network/near_memory.hpp"
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
  exchange_options made;
  made.self.role = "task";
  made.self.job = "worker";
  made.server = std::move(server);
  made.peer_timeout = 10s * patience_factor();
  return made;
}

// What a client's link says first.
std::string greeting(hello as = {}) {
  link_options options;
  options.self = std::move(as);
  options.self.role = "client";
  troupe::link peer{options, {}};
  std::vector<char> bytes;
  peer.fill(bytes, 1 << 20);
  return {bytes.begin(), bytes.end()};
}

// As it goes over a connection.
std::string framed(const message& what) {
  auto body = encode(what);
  REQUIRE(body);
  auto header = header_for(frame_kind::message, 0, body->bytes);
  std::string frame{reinterpret_cast<const char*>(header.data()), header.size()};
  return frame.append(reinterpret_cast<const char*>(body->bytes.data()), body->bytes.size());
}

// An exchange, and the other end of its connection.
struct connected {
  explicit connected(std::shared_ptr<step_server> server = nullptr) {
    auto listening = listen_at({"127.0.0.1", 0});
    REQUIRE(listening);
    std::atomic<bool> stop{false};
    auto dialed = dial({"127.0.0.1", listening->second}, step_clock::now() + 5s, stop);
    REQUIRE(dialed);
    auto accepted = ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(accepted >= 0);
    other = std::make_unique<plain_connection>(accepted);
    exchange = spawn_exchange(system, dialed->release(), options_of(std::move(server)));
  }
  ~connected() {
    caf::anon_send_exit(exchange, caf::exit_reason::user_shutdown);
    exchange = nullptr;
  }
  // Says hello, as a link does, and no more.
  void introduce(hello as = {}) { REQUIRE(other->write(greeting(std::move(as)))); }

  system_config config{1, true};
  caf::actor_system system{config};
  std::unique_ptr<plain_connection> other;
  caf::actor exchange;
};

// Counts what is written.
class counting_stream final : public byte_stream {
public:
  counting_stream(int socket, std::atomic<size_t>& written)
      : of_(make_socket_stream(socket)), written_(written) {}
  int id() const noexcept override { return of_->id(); }
  ssize_t read(std::span<const iovec> places) override { return of_->read(places); }
  ssize_t write(std::span<const iovec> pieces) override {
    auto size = of_->write(pieces);
    if (size > 0)
      written_ += static_cast<size_t>(size);
    return size;
  }
  int socket() const noexcept override { return of_->socket(); }
  void end_writing() override { of_->end_writing(); }
  void end() override { of_->end(); }
  void drop_input() override { of_->drop_input(); }

private:
  std::unique_ptr<byte_stream> of_;
  std::atomic<size_t>& written_;
};

// Lets anyone in, as a client that may run steps.
struct one_account final : access_control {
  bool takes_tokens() override { return true; }
  status check_token(const hello&) override { return {}; }
  result<std::shared_ptr<peer_account>> admit(const hello&,
                                              const std::vector<certificate_name>&) override {
    return std::make_shared<peer_account>("eve", access_rights{.runs = true});
  }
};

// Two tasks' exchanges, each at an end of one connection. With an access list, the one that sends
// is a client's.
struct two_ends {
  explicit two_ends(bool near_memory = false, std::shared_ptr<access_control> list = nullptr)
      : access(std::move(list)) {
    auto listening = listen_at({"127.0.0.1", 0});
    REQUIRE(listening);
    std::atomic<bool> stop{false};
    auto dialed = dial({"127.0.0.1", listening->second}, step_clock::now() + 5s, stop);
    REQUIRE(dialed);
    auto accepted =
        ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    REQUIRE(accepted >= 0);
    from = open(dialed->release(), sender, left, near_memory);
    to = open(accepted, receiver, came_back, near_memory);
  }
  ~two_ends() {
    for (auto* one : {&from, &to})
      caf::anon_send_exit(*one, caf::exit_reason::user_shutdown);
    from = to = nullptr;
  }
  caf::actor open(int socket, const std::shared_ptr<step_server>& server,
                  std::atomic<size_t>& count, bool near_memory) {
    auto options = options_of(server);
    options.near_memory = near_memory;
    options.loop = io_loop::make();
    if (server == receiver)
      options.owner = caf::actor_cast<caf::actor>(me);
    if (access && server == sender)
      options.self.role = "client";
    else
      options.access = access;
    return spawn_exchange(system, std::make_unique<counting_stream>(socket, count),
                          std::move(options));
  }
  // Until that much has left, or nothing leaves any more.
  size_t wait_until_left(size_t bytes) {
    for (size_t before = 0, quiet = 0; left < bytes && quiet < 20; ++quiet) {
      if (auto now = left.load(); now != before)
        before = now, quiet = 0;
      std::this_thread::sleep_for(20ms);
    }
    return left;
  }

  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor me{system}; // owns what comes to the receiver
  std::atomic<size_t> left{0}, came_back{0};
  std::shared_ptr<access_control> access;
  std::shared_ptr<step_server> sender = std::make_shared<step_server>(task_name{"worker", 0}),
                               receiver = std::make_shared<step_server>(task_name{"worker", 1});
  caf::actor from, to;
};

double seconds_of_processor(pid_t process) {
  std::ifstream in{concat("/proc/", process, "/stat")};
  std::string skipped;
  for (int i = 0; i < 13; ++i)
    in >> skipped;
  double user = 0, kernel = 0;
  in >> user >> kernel;
  return (user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace

TEST_CASE("what a peer has sent is dropped up to a bound, so that it cannot hold who cuts it off") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  auto cut_off = make_socket_stream(ends[0]);
  plain_connection peer{ends[1]};
  const std::string bytes(16 * 1024, 'x');
  size_t sent = 0;
  for (ssize_t now = 0; now >= 0; sent += static_cast<size_t>(std::max<ssize_t>(now, 0)))
    now = ::send(peer.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  REQUIRE(sent > 136 * 1024);
  cut_off->drop_input();
  char rest = 0;
  CHECK(::recv(ends[0], &rest, 1, MSG_DONTWAIT) == 1);
  for (int i = 0; i < 100; ++i) // what is less goes as a whole
    cut_off->drop_input();
  CHECK(::recv(ends[0], &rest, 1, MSG_DONTWAIT) < 0);
}

TEST_CASE("a connection that the system does not watch ends at once, and says why") {
  struct unwatched final : byte_stream {
    unwatched() : file(::open("/dev/null", O_RDWR | O_CLOEXEC)) {} // cannot be waited for
    ~unwatched() override { ::close(file); }
    int id() const noexcept override { return file; }
    ssize_t read(std::span<const iovec>) override { return errno = EAGAIN, -1; }
    ssize_t write(std::span<const iovec>) override { return errno = EAGAIN, -1; }
    void end_writing() override {}
    void end() override {}
    void drop_input() override {}
    const int file;
  };
  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor me{system};
  auto options = options_of();
  options.loop = io_loop::make();
  options.opener = me->address();
  auto exchange = spawn_exchange(system, std::make_unique<unwatched>(), std::move(options));
  bool heard = false;
  me->receive(
      [&](const peer_gone& what) {
        heard = true;
        CHECK_THAT(what.why.message(), Contains("does not watch its socket: Operation not perm"));
      },
      caf::after(500ms) >> [] {});
  CHECK(heard);
  caf::anon_send_exit(exchange, caf::exit_reason::user_shutdown);
}

TEST_CASE("a listening socket that the system does not watch fails who wanted it") {
  system_config config{1, true};
  caf::actor_system system{config}; // ends: no actor is left
  auto file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto options = options_of();
  options.address = "h:10";
  auto made = spawn_listener(system, file, std::move(options));
  REQUIRE_FALSE(made);
  CHECK_THAT(made.status().message(),
             Contains("h:10") && Contains("does not watch its socket: Operation not perm"));
  CHECK(soon([&] { return ::fcntl(file, F_GETFD) < 0; }));
}

TEST_CASE("one connection more than allowed is refused in words, until another has ended") {
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
    for (auto* one : {&first, &second}) {
      REQUIRE(one->write(greeting()));
      char byte = 0;
      REQUIRE(::recv(one->descriptor(), &byte, 1, 0) == 1); // its hello: it has an exchange
    }
    REQUIRE(third.write(greeting()));
    bool closed = false;
    auto said = third.read_to_end(closed);
    CHECK(closed);
    CHECK_THAT(said, Contains("/job:worker/task:0 has 2 connections already, at most 2"));
  }
  auto heard = [&] {
    plain_connection again{port};
    again.write(greeting());
    char byte = 0;
    return ::recv(again.descriptor(), &byte, 1, 0) == 1 &&
           ::recv(again.descriptor(), &byte, 1, MSG_DONTWAIT) == 1;
  };
  CHECK(heard());
  caf::anon_send_exit(*listener, caf::exit_reason::user_shutdown);
}

TEST_CASE("a task without a free descriptor neither spins nor forgets to accept later") {
  watchdog watch;
  auto cluster = make_cluster(1);
  task_process here{cluster, {"worker", 0}};
  const text_case small{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"};
  REQUIRE(run_all(*connect_to(cluster), small).empty());
  auto used = footprint_of(here.pid()).descriptors;
  rlimit few{static_cast<rlim_t>(used) + 3, static_cast<rlim_t>(used) + 3}, before{};
  REQUIRE(::prlimit(here.pid(), RLIMIT_NOFILE, &few, &before) == 0);
  auto colon = cluster.jobs["worker"][0].rfind(':');
  auto port = static_cast<uint16_t>(std::stoi(cluster.jobs["worker"][0].substr(colon + 1)));
  {
    std::vector<plain_connection> storm;
    for (int i = 0; i < 20; ++i)
      storm.emplace_back(port);
    auto spent = seconds_of_processor(here.pid());
    std::this_thread::sleep_for(500ms);
    CHECK(seconds_of_processor(here.pid()) - spent < 0.25);
    bool closed = false;
    storm.back().read_to_end(closed);
    CHECK(closed); // not left to wait
  }
  CHECK(run_all(*connect_to(cluster), small).empty());
}

TEST_CASE("a peer that does not read fails steps, and costs no more than the limit") {
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
  auto outcome = server->steps().announce({0, 7});
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK_THAT(outcome.message(),
             Contains("sending to") &&
                 Contains("bytes of messages are queued already, the limit is 67108864"));
}

TEST_CASE("what an answer that cannot leave was to tell goes with the refusal that does") {
  watchdog watch;
  two_ends pair;
  session_ran large;
  large.fetches.assign(50'000, tensor::scalar(1)); // more than fits into a message
  caf::anon_send(pair.from, outgoing{session_reply{.request = 5,
                                                   .leaving = true,
                                                   .warnings = {"beware"},
                                                   .what = std::move(large),
                                                   .held = {{"/job:ps/task:0", 11}},
                                                   .losses = {{"/job:ps/task:0", 3}},
                                                   .fills = {{"/job:ps/task:1"}}}});
  auto came = false;
  pair.me->receive([&](const incoming& what) {
    came = true;
    REQUIRE(std::holds_alternative<session_reply>(what.content));
    const auto& told = std::get<session_reply>(what.content);
    CHECK(told.request == 5);
    CHECK(told.outcome.kind() == error_kind::resource_exhausted);
    CHECK(told.leaving);
    CHECK(told.warnings == std::vector<std::string>{"beware"});
    REQUIRE(told.held.size() == 1);
    CHECK(told.held[0].incarnation == 11);
    REQUIRE(told.losses.size() == 1);
    CHECK(told.losses[0].number == 3);
    REQUIRE(told.fills.size() == 1);
    CHECK(told.fills[0].task == "/job:ps/task:1");
  });
  CHECK(came);
}

TEST_CASE("what a client of an access list announces is not kept among the tensors of tasks") {
  watchdog watch;
  auto of_client = GENERATE(true, false);
  two_ends pair{false, of_client ? std::make_shared<one_account>() : nullptr};
  auto value = tensor::make(dtype::u8, shape{1'000'000});
  REQUIRE(value);
  const step_id step{0, 7};
  REQUIRE(pair.sender->steps().announce(step));
  caf::anon_send(pair.from, outgoing{tensor_push{step, 1, false, *value}});
  CHECK(pair.wait_until_left(value->bytes()) < 5000);
  REQUIRE(pair.receiver->steps().announce(step)); // would have it come
  CHECK((pair.wait_until_left(value->bytes()) < 5000) == of_client);
  pair.sender->steps().end(step, true);
}

TEST_CASE("what still travels of a large tensor when its step is cancelled is little") {
  watchdog watch;
  two_ends pair;
  constexpr size_t size = size_is_telling ? size_t{1} << 30 : size_t{64} << 20;
  auto value = tensor::make(dtype::u8, shape{static_cast<int64_t>(size)});
  REQUIRE(value);
  const step_id step{0, 7}, next{0, 8};
  auto gone = failure(error_kind::cancelled, "enough");
  REQUIRE(pair.sender->steps().announce(step));
  caf::anon_send(pair.from, outgoing{tensor_push{step, 1, false, *value}});
  SECTION("before it has come: nothing") {
    CHECK(pair.wait_until_left(size) < 5000);
    pair.receiver->steps().abort(step, gone, nullptr);
    CHECK(pair.wait_until_left(size) < 5000);
  }
  // Beyond what the systems' buffers hold, and that is what they do: a write and a chunk.
  constexpr size_t buffers = size_t{12} << 20;
  SECTION("while it comes, by the receiver") {
    REQUIRE(pair.receiver->steps().announce(step));
    auto before = pair.wait_until_left(1 << 20);
    pair.receiver->steps().abort(step, gone, nullptr);
    CHECK(pair.wait_until_left(size) < before + buffers);
  }
  SECTION("while it comes, by the sender") {
    REQUIRE(pair.receiver->steps().announce(step));
    auto before = pair.wait_until_left(1 << 20);
    pair.sender->steps().end(step, true);
    CHECK(pair.wait_until_left(size) < before + buffers);
  }
  pair.sender->steps().end(step, true);
  for (int i = 0; i < 500 && !value->unique(); ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(value->unique()); // the sender holds it no more
  // All that was promised has returned: another passes.
  REQUIRE(pair.receiver->steps().announce(next));
  auto before = pair.left.load();
  auto small = tensor::make(dtype::u8, shape{1'000'000});
  REQUIRE(small);
  caf::anon_send(pair.from, outgoing{tensor_push{next, 1, false, *small}});
  CHECK(pair.wait_until_left(before + 1'000'000) > before + 1'000'000);
}

TEST_CASE("a large tensor goes to a process of this machine in one copy, however its step ends") {
  watchdog watch;
  two_ends pair{true};
  auto value = tensor::make(dtype::u8, shape{64 << 20});
  REQUIRE(value);
  const step_id step{0, 7};
  REQUIRE(pair.sender->steps().announce(step));
  REQUIRE(pair.receiver->steps().announce(step));
  caf::anon_send(pair.from, outgoing{tensor_push{step, 1, false, *value}});
  SECTION("well") {}
  SECTION("it is cancelled where the tensor comes") {
    pair.receiver->steps().abort(step, failure(error_kind::cancelled, "enough"), nullptr);
  }
  SECTION("it fails where the tensor comes from") { pair.sender->steps().end(step, true); }
  SECTION("a process goes") { caf::anon_send_exit(pair.from, caf::exit_reason::user_shutdown); }
  for (int i = 0; i < 500 && !value->unique(); ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(value->unique());
  if (pair.left > 10'000)
    WARN("this system does not let processes read others' memory");
}

namespace {

// Who connects, and our end.
struct near_sockets {
  near_sockets() {
    auto listening = listen_at({"127.0.0.1", 0});
    REQUIRE(listening);
    theirs = std::make_unique<plain_connection>(listening->second);
    auto accepted = ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(accepted >= 0);
    ours = std::make_unique<plain_connection>(accepted);
    for (size_t i = 0; i < 2; ++i)
      token.words[i] = who.token[i] = 1234567 + i;
    who.process = static_cast<uint32_t>(::getpid());
    who.token_at = reinterpret_cast<uint64_t>(token.words.data());
  }
  std::unique_ptr<plain_connection> theirs, ours;
  lending_token token;
  hello who;
};

} // namespace

TEST_CASE("memory is read of the process that is at the other end, and as long as it lends it") {
  near_sockets pair;
  auto& who = pair.who;
  auto find = [&] { return near_memory::find(pair.ours->descriptor(), who); };
  CHECK(near_memory::within_machine(pair.ours->descriptor()));
  CHECK(!near_memory::within_machine(-1));
  auto there = find();
  if (!there) {
    WARN("this system does not let processes read others' memory");
    return;
  }
  std::string value = "lies here", read(value.size(), ' ');
  std::span to{reinterpret_cast<std::byte*>(read.data()), read.size()};
  auto from = reinterpret_cast<uint64_t>(value.data());
  CHECK(there->read(to, from).ok());
  CHECK(read == value);
  CHECK(there->read(to, 8).kind() == error_kind::invalid_argument);
  CHECK(there->read(to, UINT64_MAX - 3).kind() == error_kind::invalid_argument);
  CHECK(there->read(to, uint64_t{1} << 63).kind() == error_kind::invalid_argument);
  SECTION("it takes it back") {
    pair.token.revoke();
    CHECK(there->read(to, from).kind() == error_kind::unavailable);
    CHECK(!find());
  }
  SECTION("it names another process") {
    who.process = static_cast<uint32_t>(::getppid());
    CHECK(!find());
    who.process = 1;
    CHECK(!find());
    who.process = UINT32_MAX;
    CHECK(!find());
  }
  SECTION("its token is another, or nowhere") {
    ++who.token[1];
    CHECK(!find());
    who.token_at = 8;
    CHECK(!find());
  }
  SECTION("it lends nothing") {
    who.process = 0;
    CHECK(!find());
  }
}

TEST_CASE("a process that has ended is said to have") {
  near_sockets pair;
  auto child = ::fork(); // it has all that this one has, its sockets among that
  if (child == 0)
    for (;;)
      ::pause();
  REQUIRE(child > 0);
  pair.who.process = static_cast<uint32_t>(child);
  auto there = near_memory::find(pair.ours->descriptor(), pair.who);
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  if (!there) {
    WARN("this system does not let processes read others' memory");
    return;
  }
  std::byte read{};
  auto why = there->read({&read, 1}, reinterpret_cast<uint64_t>(&read));
  CHECK(why.kind() == error_kind::unavailable);
  CHECK(why.message() == "its process has ended");
}

TEST_CASE("a peer that lends what it does not have is sent away with a reason") {
  watchdog watch;
  connected pair{std::make_shared<step_server>(task_name{"worker", 0})};
  lending_token token;
  hello who;
  who.process = static_cast<uint32_t>(::getpid());
  who.token_at = reinterpret_cast<uint64_t>(token.words.data());
  token.words[0] = who.token[0] = 42;
  pair.introduce(who);
  auto value = tensor::make(dtype::u8, shape{1'000'000});
  REQUIRE(value);
  auto answer = encode(step_done{1, {}, {{0, *value}}});
  auto loan = encode(lent{1, 8});
  REQUIRE((answer && loan));
  auto write = [&](const encoded_message& what, uint64_t transfer) {
    auto header = header_for(frame_kind::message, transfer, what.bytes);
    REQUIRE(pair.other->write({reinterpret_cast<const char*>(header.data()), header.size()}));
    REQUIRE(
        pair.other->write({reinterpret_cast<const char*>(what.bytes.data()), what.bytes.size()}));
  };
  write(*answer, 1);
  write(*loan, 0);
  bool closed = false;
  auto said = pair.other->read_to_end(closed);
  CHECK(closed);
  if (said.find("which was not requested") != said.npos)
    WARN("this system does not let processes read others' memory");
  else
    CHECK_THAT(said, Contains("bytes of memory that it does not have"));
}

TEST_CASE("questions to a peer that has gone are answered, also later ones") {
  watchdog watch;
  connected pair;
  pair.introduce();
  std::this_thread::sleep_for(20ms);
  pair.other = nullptr;
  for (int i = 0; i < 2; ++i) {
    caf::scoped_actor self{pair.system, true};
    status outcome;
    self->request(pair.exchange, 5s,
                  run_request{.handle = 1, .step = {0, 1}, .deadline = {}, .feeds = {}})
        .receive([](const step_result&) {},
                 [&](const caf::error& why) { outcome = from_caf(why); });
    CHECK(outcome.kind() == error_kind::unavailable);
    CHECK_THAT(outcome.message(), Contains("client"));
  }
}

TEST_CASE("who does not read answers is given no more, and tensors do not count as such") {
  watchdog watch;
  auto of_answers = GENERATE(true, false);
  connected pair;
  pair.introduce();
  REQUIRE(pair.other->write(framed(inspect_request{.request = 1, .ref = {}})));
  auto large = tensor::make(dtype::u8, shape{80'000'000});
  std::this_thread::sleep_for(20ms);
  if (of_answers)
    caf::anon_send(pair.exchange, outgoing{inspect_reply{1, {}, *large}});
  else
    caf::anon_send(pair.exchange, outgoing{step_done{1, {}, {{0, *large}}}});
  std::this_thread::sleep_for(20ms);
  REQUIRE(pair.other->write(framed(state_list_request{7})));
  bool closed = false;
  auto said = pair.other->read_to_end(closed);
  CHECK((said.find("has not read") != said.npos) == of_answers);
  CHECK(!closed);
}

TEST_CASE("a peer that asks for more than it reads is refused, and the rest goes on") {
  watchdog watch;
  connected pair;
  pair.introduce();
  // Nobody here answers: the first wait, and of the others it is said that they are too many.
  std::string all;
  for (int i = 0; i < 70; ++i)
    all += framed(inspect_request{.request = 7, .ref = {}});
  REQUIRE(pair.other->write(all));
  bool closed = false;
  auto said = pair.other->read_to_end(closed);
  CHECK(!closed);
  size_t refused = 0;
  for (auto at = said.find("are not answered yet"); at != said.npos;
       at = said.find("are not answered yet", at + 1))
    ++refused;
  CHECK(refused == 6);
}

} // namespace troupe::test::exchange_test
