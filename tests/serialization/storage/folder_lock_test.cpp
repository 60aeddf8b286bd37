#include "troupe/serialization/storage/folder_lock.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/error.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stop_token>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace troupe::test::folder_lock_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

constexpr const char* held_folder = "TROUPE_TEST_HELD_FOLDER";

folder_lock_options options_of(const std::string& holder = "a test") {
  return {.content = "checkpoints", .owner = holder, .how_to_take_over = "set take_over"};
}

// Runs the function in a forked child, whose exit code is its result.
int exit_code_of_child(const std::function<int()>& act) {
  auto child = ::fork();
  if (child == 0)
    ::_exit(act());
  int state = 0;
  ::waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

// Another process that holds a folder until it is killed: this program, running the test below.
class holding_process {
public:
  explicit holding_process(const std::string& folder) {
    process_ = ::fork();
    if (process_ == 0) {
      ::setenv(held_folder, folder.c_str(), 1);
      ::execl("/proc/self/exe", "troupe_test",
              "a process holds a folder for another test until it is killed",
              static_cast<char*>(nullptr));
      ::_exit(127);
    }
    for (int i = 0; i < 3000 && !fs::exists(folder + "/held"); ++i)
      std::this_thread::sleep_for(10ms);
    REQUIRE(fs::exists(folder + "/held"));
  }
  ~holding_process() {
    kill();
    ::waitpid(process_, nullptr, 0);
  }
  void kill() const { ::kill(process_, SIGKILL); } // not reaped: it stays as a zombie
  pid_t process() const { return process_; }

private:
  pid_t process_ = 0;
};

std::string text_of(const std::string& folder) {
  return value_or_throw(read_file(folder + "/writer.lock"));
}

std::string with_field(std::string text, const std::string& field, const std::string& value) {
  auto begin = text.find(field + ": ") + field.size() + 2;
  return text.replace(begin, text.find('\n', begin) - begin, value);
}

} // namespace

TEST_CASE("a process holds a folder for another test until it is killed", "[.]") {
  const auto* folder = std::getenv(held_folder);
  if (!folder)
    return;
  auto lock = folder_lock::acquire(folder, options_of("the other"));
  REQUIRE(lock);
  std::ofstream{std::string{folder} + "/held"} << "held";
  std::this_thread::sleep_for(60s);
}

TEST_CASE("a folder in use is refused to another process, naming the holder") {
  watchdog watch;
  temporary_folder folder;
  holding_process holder{folder.path()};
  auto begin = std::chrono::steady_clock::now();
  auto refused = folder_lock::acquire(folder.path(), options_of());
  CHECK(std::chrono::steady_clock::now() - begin < 2s * timeout_scale);
  REQUIRE_FALSE(refused);
  CHECK(refused.status().kind() == error_kind::already_exists);
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  CHECK_THAT(
      refused.status().message(),
      Contains(folder.path()) &&
          Contains(concat("process ", holder.process(), " on host '", host, "' (the other)")) &&
          Contains("writes checkpoints here since 20") && Contains("UTC") &&
          Contains("end it, choose another folder, or set take_over"));
}

TEST_CASE("a killed process does not block a folder") {
  watchdog watch;
  temporary_folder folder;
  holding_process holder{folder.path()};
  holder.kill();
  auto lock = result<std::shared_ptr<folder_lock>>{invalid("not tried")};
  for (int i = 0; i < 500 && !lock; ++i) { // until the kernel has ended the process
    lock = folder_lock::acquire(folder.path(), options_of());
    if (!lock)
      std::this_thread::sleep_for(10ms);
  }
  REQUIRE(lock);
  CHECK((*lock)->check());
}

TEST_CASE("a folder is taken over on request, and its former holder may not write") {
  watchdog watch;
  temporary_folder folder;
  auto first = value_or_throw(folder_lock::acquire(folder.path(), options_of("the first")));
  CHECK(first->check());
  auto takeover_options = options_of("the second");
  takeover_options.take_over = true;
  {
    auto second = value_or_throw(folder_lock::acquire(folder.path(), takeover_options));
    CHECK(second->check());
    bool acted = false;
    auto outcome = first->while_held([&] {
      acted = true;
      return status{};
    });
    CHECK_FALSE(acted);
    CHECK(outcome.kind() == error_kind::already_exists);
    CHECK_THAT(outcome.message(),
               Contains("(the second)") && Contains("has taken the folder over"));
    first.reset(); // does not remove the other's lock
    CHECK(second->check());
  }
  CHECK_FALSE(fs::exists(folder / "writer.lock"));
}

TEST_CASE("two writers of one process exclude each other, unless they share the lock") {
  temporary_folder folder;
  auto first_options = options_of("the first");
  auto first = value_or_throw(folder_lock::acquire(folder.path(), first_options));
  auto second = folder_lock::acquire(folder.path(), first_options);
  REQUIRE_FALSE(second);
  CHECK_THAT(second.status().message(), Contains("this process (the first) writes checkpoints"));
  first_options.shared_in_process = true;
  auto shared = value_or_throw(folder_lock::acquire(folder.path(), first_options));
  CHECK(shared == first);
  first.reset();
  CHECK(shared->check());
  shared.reset();
  CHECK(folder_lock::acquire(folder.path(), options_of()));
}

TEST_CASE("a forked child does not hold or release its parent's locks") {
  temporary_folder folder;
  auto lock = value_or_throw(folder_lock::acquire(folder.path(), options_of()));
  auto code = exit_code_of_child([&] {
    auto may_write = lock->check();
    auto child_lock = folder_lock::acquire(folder.path(), options_of());
    lock.reset();
    return may_write.kind() == error_kind::already_exists &&
                   child_lock.status().kind() == error_kind::already_exists
               ? 0
               : 1;
  });
  CHECK(code == 0);
  CHECK(lock->check());
}

TEST_CASE("the id of an ended process may belong to another process") {
  temporary_folder folder;
  value_or_throw(folder_lock::acquire(folder.path(), options_of())); // and released
  auto first = value_or_throw(folder_lock::acquire(folder.path(), options_of()));
  auto text = with_field(text_of(folder.path()), "token", "other");
  // The parent process is alive, and started at another time than the one in the lock.
  REQUIRE(write_file(folder / "writer.lock",
                     with_field(with_field(text, "process", concat(::getppid())), "started", "1")));
  CHECK(folder_lock::acquire(folder.path(), options_of()));
}

TEST_CASE("a holder on another machine is alive while its counter advances") {
  watchdog watch;
  temporary_folder folder;
  auto remote_options = options_of();
  remote_options.refresh = 40ms;
  remote_options.lease = 1200ms;
  std::string text;
  {
    auto lock = value_or_throw(folder_lock::acquire(folder.path(), remote_options));
    text = with_field(
        with_field(with_field(text_of(folder.path()), "world", "another"), "host", "far"), "token",
        "t");
  }
  auto path = folder / "writer.lock";
  REQUIRE(write_file(path, text));
  {
    std::jthread counts{[&](const std::stop_token& stop) {
      for (int i = 1; !stop.stop_requested(); ++i) {
        (void)replace_file(real_files(), path, with_field(text, "count", concat(i)));
        std::this_thread::sleep_for(20ms);
      }
    }};
    auto refused = folder_lock::acquire(folder.path(), remote_options);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.status().message(), Contains("on host 'far'"));
  }
  auto begin = std::chrono::steady_clock::now();
  auto lock = folder_lock::acquire(folder.path(), remote_options);
  CHECK(lock);
  CHECK(std::chrono::steady_clock::now() - begin >= remote_options.lease);
}

TEST_CASE("a holder's counter advances while it is alive") {
  temporary_folder folder;
  auto counting_options = options_of();
  counting_options.refresh = 10ms;
  auto lock = value_or_throw(folder_lock::acquire(folder.path(), counting_options));
  auto text_before = text_of(folder.path());
  auto counted = false;
  for (int i = 0; i < 1000 && !counted; ++i) {
    std::this_thread::sleep_for(5ms);
    counted = text_of(folder.path()) != text_before;
  }
  CHECK(counted);
  CHECK(lock->check());
}

TEST_CASE("a removed or truncated lock is restored by its holder") {
  temporary_folder folder;
  auto lock = value_or_throw(folder_lock::acquire(folder.path(), options_of()));
  fs::remove(folder / "writer.lock");
  CHECK(lock->check());
  CHECK_FALSE(folder_lock::acquire(folder.path(), options_of()));
  REQUIRE(write_file(folder / "writer.lock", text_of(folder.path()).substr(0, 30)));
  CHECK(lock->check());
  CHECK_FALSE(folder_lock::acquire(folder.path(), options_of()));
}

TEST_CASE("an invalid or truncated lock file does not block a folder") {
  temporary_folder folder;
  auto text = GENERATE(std::string{}, std::string{"troupe folder lock 1\nhost: a\nproc"},
                       std::string{"\x1b[31m"}, std::string(10'000, 'x'));
  REQUIRE(write_file(folder / "writer.lock", text));
  CHECK(folder_lock::acquire(folder.path(), options_of()));
}

TEST_CASE("errors show no control characters from a foreign lock file") {
  temporary_folder folder;
  auto lock = value_or_throw(folder_lock::acquire(folder.path(), options_of()));
  REQUIRE(write_file(
      folder / "writer.lock",
      with_field(with_field(text_of(folder.path()), "token", "t"), "by", "\x1b[31mred")));
  auto refused = lock->check();
  CHECK_FALSE(refused);
  CHECK(refused.message().find('\x1b') == std::string::npos);
}

TEST_CASE("an unwritable folder is reported, and stays without a lock") {
  temporary_folder folder;
  auto missing = folder_lock::acquire(folder / "none", options_of());
  CHECK(missing.status().kind() == error_kind::not_found);
  CHECK_THAT(missing.status().message(), Contains("none/writer.lock"));
  auto read_only =
      folder_lock::acquire("/proc/self", options_of()); // files cannot be created there
  REQUIRE_FALSE(read_only);
  CHECK(read_only.status().kind() != error_kind::already_exists);
  CHECK_THAT(read_only.status().message(), Contains("/proc/self/writer.lock"));
  // As on a full disk.
  auto code = exit_code_of_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    auto full = folder_lock::acquire(folder.path(), options_of());
    return !full && full.status().kind() != error_kind::already_exists &&
                   !fs::exists(folder / "writer.lock")
               ? 0
               : 1;
  });
  CHECK(code == 0);
}

} // namespace troupe::test::folder_lock_test
