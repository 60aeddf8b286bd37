#include "troupe/serialization/storage/folder_lock.hpp"

#include "troupe/serialization/storage/checksum.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <thread>

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_wait_for_file = 5s; // for a process that reads or writes the text
constexpr size_t longest_lock_text = 4096;
constexpr std::string_view lock_title = "troupe folder lock 1";

// -- processes ------------------------------------------------------------------------------------

std::string first_line_of(const std::string& path) {
  std::ifstream in{path};
  std::string line;
  std::getline(in, line);
  return line;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// Processes with the same one see each other's numbers.
std::string process_world() {
  char space[64] = {};
  auto length = ::readlink("/proc/self/ns/pid", space, sizeof space - 1);
  auto boot = first_line_of("/proc/sys/kernel/random/boot_id");
  return length > 0 && !boot.empty() ? concat(boot, ' ', space) : concat("host ", host_name());
}

struct process_state {
  bool is_there = false;
  std::string started = {}; // in ticks since the machine began; empty where it is not known
};

bool has_several_threads(pid_t process) {
  auto* tasks = ::opendir(concat("/proc/", process, "/task").c_str());
  if (!tasks)
    return false;
  auto count = 0;
  while (const auto* entry = ::readdir(tasks))
    count += entry->d_name[0] != '.';
  ::closedir(tasks);
  return count > 1;
}

process_state state_of_process(pid_t process) {
  auto line = first_line_of(concat("/proc/", process, "/stat"));
  auto end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) // such as where /proc hides the processes of others
    return {.is_there = ::kill(process, 0) == 0 || errno == EPERM};
  std::istringstream fields{line.substr(end_of_name + 1)};
  std::string state, field;
  fields >> state;
  constexpr int fields_before_start = 18; // between the state and the time of the start
  for (int i = 0; i < fields_before_start; ++i)
    fields >> field;
  fields >> field;
  // A process that has ended, and that its parent has not asked for, is a zombie. So is the first
  // thread where it has ended before the others.
  auto has_ended = state == "X" || (state == "Z" && !has_several_threads(process));
  return {.is_there = !has_ended, .started = field};
}

// -- the text -------------------------------------------------------------------------------------

struct lock_holder {
  std::string host = {}, world = {}, started = {}, since = {}, by = {}, token = {};
  int64_t process = 0;
  uint64_t count = 0; // grows while the holder lives

  bool is_of(const lock_holder& other) const {
    return world == other.world && process == other.process && started == other.started;
  }
};

lock_holder this_process() {
  auto process = ::getpid();
  return {.host = host_name(),
          .world = process_world(),
          .started = state_of_process(process).started,
          .process = process};
}

std::string new_lock_token() {
  std::random_device device;
  return hex_text(uint64_t{device()} << 32 | device());
}

std::string time_now() {
  auto now = ::time(nullptr);
  struct tm parts {};
  ::gmtime_r(&now, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

// One line each: what others have written could have more.
std::string in_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text.substr(0, 256);
}

std::string text_of_holder(const lock_holder& who) {
  return concat(lock_title, "\nhost: ", in_one_line(who.host), "\nprocess: ", who.process,
                "\nstarted: ", who.started, "\nworld: ", who.world, "\nsince: ", who.since,
                "\nby: ", in_one_line(who.by), "\ntoken: ", who.token, "\ncount: ", who.count,
                '\n');
}

template <class Number>
Number lock_number_in(const std::string& text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Nothing for a text that was cut off, or is none.
std::optional<lock_holder> parse_holder(const std::string& text) {
  std::istringstream lines{text};
  std::string line;
  if (!std::getline(lines, line) || line != lock_title || !text.ends_with('\n'))
    return {};
  std::map<std::string, std::string> fields;
  while (std::getline(lines, line))
    if (auto colon = line.find(": "); colon != std::string::npos)
      fields[line.substr(0, colon)] = in_one_line(line.substr(colon + 2));
  if (fields["token"].empty() || !fields.contains("count"))
    return {};
  return lock_holder{.host = fields["host"],
                     .world = fields["world"],
                     .started = fields["started"],
                     .since = fields["since"],
                     .by = fields["by"],
                     .token = fields["token"],
                     .process = lock_number_in<int64_t>(fields["process"]),
                     .count = lock_number_in<uint64_t>(fields["count"])};
}

// -- the file -------------------------------------------------------------------------------------

status lock_file_error(const std::string& path, int code) {
  auto text = std::system_category().message(code);
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return failure(error_kind::resource_exhausted, "cannot write ", path,
                     ": the disk is full; free some of it or choose another folder");
    case EACCES:
    case EPERM:
    case EROFS:
      return failure(error_kind::unavailable, "cannot write ", path, ": ", text,
                     "; change its permissions or choose another folder");
    case ENOENT:
    case ENOTDIR:
      return failure(error_kind::not_found, "cannot write ", path,
                     ": there is no such folder; check the path");
    default: return failure(error_kind::unavailable, "cannot write ", path, ": ", text);
  }
}

bool has_no_locks(int code) { return code == ENOSYS || code == EOPNOTSUPP || code == ENOLCK; }

// The file, open while no other process reads or changes it. That is what its own lock of the
// kernel is for, which is held for moments: it would go on to the children of a fork. Where the
// file system has no locks, two processes that begin at one moment may both take a folder.
class open_lock_file {
public:
  static result<open_lock_file> open(const std::string& path, bool makes_it) {
    auto until = std::chrono::steady_clock::now() + longest_wait_for_file;
    for (;;) {
      open_lock_file opened{path};
      auto flags = O_RDWR | O_CLOEXEC | (makes_it ? O_CREAT : 0);
      opened.file_ = ::open(path.c_str(), flags, 0666);
      if (opened.file_ < 0 && errno == EINTR)
        continue;
      if (opened.file_ < 0)
        return lock_file_error(path, errno);
      auto locked = ::flock(opened.file_, LOCK_EX | LOCK_NB) == 0 || has_no_locks(errno);
      if (!locked && errno != EWOULDBLOCK && errno != EINTR)
        return lock_file_error(path, errno);
      struct stat own {
      }, named{};
      if (locked && ::fstat(opened.file_, &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
          own.st_ino == named.st_ino && own.st_dev == named.st_dev)
        return opened;
      if (locked && !makes_it && ::stat(path.c_str(), &named) != 0 && errno == ENOENT)
        return lock_file_error(path, ENOENT); // removed by its holder
      if (std::chrono::steady_clock::now() > until)
        return failure(error_kind::unavailable, path, ": another process has had it open for ",
                       longest_wait_for_file.count(), " s; try again");
      if (!locked)
        std::this_thread::sleep_for(5ms);
    }
  }
  open_lock_file(open_lock_file&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  open_lock_file& operator=(open_lock_file&&) = delete;
  ~open_lock_file() {
    if (file_ >= 0)
      ::close(file_);
  }

  std::optional<lock_holder> read() const {
    std::string text(longest_lock_text, '\0');
    auto got = ::pread(file_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return parse_holder(text);
  }

  // In place: on a disk that is full, too, where there was a text before.
  status write(const lock_holder& who) const {
    auto text = text_of_holder(who);
    for (size_t done = 0; done < text.size();) {
      auto put = ::pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return lock_file_error(path_, errno);
      done += static_cast<size_t>(put);
    }
    return ::ftruncate(file_, static_cast<off_t>(text.size())) == 0 ? status{}
                                                                    : lock_file_error(path_, errno);
  }

  void remove() const { ::unlink(path_.c_str()); }

private:
  explicit open_lock_file(std::string path) : path_(std::move(path)) {}
  std::string path_;
  int file_ = -1;
};

// -- the locks of this process --------------------------------------------------------------------

struct locks_of_process {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<folder_lock>> by_token;
};

locks_of_process& known_locks() {
  static locks_of_process locks;
  return locks;
}

} // namespace

struct folder_lock::state {
  std::string folder, path;
  folder_lock_options options;
  lock_holder self;

  // The thread that refreshes the file. It is left alone in a process that was forked.
  struct refresher {
    std::mutex mutex = {};
    std::condition_variable changed = {};
    bool ends = false;
    std::thread thread = {};
  };
  std::unique_ptr<refresher> refreshes = std::make_unique<refresher>();

  bool is_forked() const { return ::getpid() != self.process; }

  status is_held_by(const lock_holder& other, std::string_view but) const {
    auto who = other.process == ::getpid() && other.world == self.world
                   ? concat("this process (", other.by.empty() ? "?" : other.by, ')')
                   : concat("process ", other.process, " on host '", other.host, "'",
                            other.by.empty() ? "" : concat(" (", other.by, ')'));
    return failure(error_kind::already_exists, folder, ": ", who, " writes ", options.writes,
                   " here since ", other.since, but);
  }

  std::string what_to_do() const {
    return concat("; end it, choose another folder",
                  options.how_to_take_over.empty() ? ""
                                                   : concat(", or ", options.how_to_take_over));
  }

  status check(const lock_holder& now) const {
    return now.token == self.token
               ? status{}
               : is_held_by(now, "; it has taken the folder over, and this writes no more");
  }

  void refresh_until_end() {
    auto latest = self;
    std::unique_lock lock{refreshes->mutex};
    while (!refreshes->changed.wait_for(lock, options.refresh, [&] { return refreshes->ends; })) {
      lock.unlock();
      if (auto file = open_lock_file::open(path, false))
        if (auto now = file->read(); now && now->token == self.token) {
          ++latest.count;
          (void)file->write(latest); // else others take it for ended, and the next check says so
        }
      lock.lock();
    }
  }
};

folder_lock::folder_lock(std::unique_ptr<state> held) : state_(std::move(held)) {}

namespace {

enum class holder_state : uint8_t { lives, has_ended, is_own, is_unknown };

holder_state look_at_holder(const lock_holder& other, const lock_holder& self) {
  if (other.is_of(self))
    return holder_state::is_own;
  if (other.world != self.world)
    return holder_state::is_unknown;
  auto now = state_of_process(static_cast<pid_t>(other.process));
  auto is_another = !now.started.empty() && !other.started.empty() && now.started != other.started;
  return now.is_there && !is_another ? holder_state::lives : holder_state::has_ended;
}

// Of the locks of this process, whether that one is there.
std::shared_ptr<folder_lock> known_lock(const std::string& token) {
  auto& locks = known_locks();
  std::lock_guard guard{locks.mutex};
  auto lock = locks.by_token.find(token);
  return lock == locks.by_token.end() ? nullptr : lock->second.lock();
}

} // namespace

result<std::shared_ptr<folder_lock>> folder_lock::take(const std::string& folder,
                                                       folder_lock_options options) {
  auto writer = std::make_unique<state>();
  writer->folder = folder;
  writer->path = path_in(folder, options.file);
  writer->options = std::move(options);
  writer->self = this_process();
  writer->self.by = writer->options.by;
  writer->self.since = time_now();
  writer->self.token = new_lock_token();
  std::optional<lock_holder> watched; // of another kernel
  auto watched_since = std::chrono::steady_clock::now();
  for (;;) {
    {
      TROUPE_ASSIGN(auto file, open_lock_file::open(writer->path, true));
      auto now = file.read();
      auto outcome = now ? look_at_holder(*now, writer->self) : holder_state::has_ended;
      if (outcome == holder_state::is_own) {
        auto known = known_lock(now->token);
        if (known && writer->options.shared_in_process)
          return known;
        outcome = known ? holder_state::lives : holder_state::has_ended;
      }
      if (outcome == holder_state::is_unknown && watched && watched->token == now->token) {
        if (watched->count != now->count)
          outcome = holder_state::lives;
        else if (std::chrono::steady_clock::now() - watched_since >= writer->options.silent)
          outcome = holder_state::has_ended;
      } else if (outcome == holder_state::is_unknown) {
        watched = now;
        watched_since = std::chrono::steady_clock::now();
      }
      if (outcome == holder_state::has_ended || writer->options.take_over) {
        auto written = file.write(writer->self);
        if (!written && !now)
          file.remove();
        TROUPE_TRY(std::move(written));
        break;
      }
      if (outcome == holder_state::lives)
        return writer->is_held_by(*now, writer->what_to_do());
    }
    std::this_thread::sleep_for(
        std::min<std::chrono::milliseconds>(writer->options.refresh / 4, 250ms));
  }
  auto* held = writer.get();
  std::shared_ptr<folder_lock> lock{new folder_lock{std::move(writer)}};
  {
    auto& locks = known_locks();
    std::lock_guard guard{locks.mutex};
    std::erase_if(locks.by_token, [](const auto& entry) { return entry.second.expired(); });
    locks.by_token[held->self.token] = lock;
  }
  try {
    held->refreshes->thread = std::thread{[held] { held->refresh_until_end(); }};
  } catch (const std::system_error& why) {
    return failure(error_kind::resource_exhausted, folder,
                   ": no thread for its lock: ", why.what());
  }
  return lock;
}

folder_lock::~folder_lock() {
  if (state_->is_forked()) { // neither the file nor the thread is this process's
    (void)state_->refreshes.release();
    return;
  }
  {
    std::lock_guard guard{state_->refreshes->mutex};
    state_->refreshes->ends = true;
  }
  state_->refreshes->changed.notify_all();
  if (state_->refreshes->thread.joinable())
    state_->refreshes->thread.join();
  if (auto file = open_lock_file::open(state_->path, false))
    if (auto now = file->read(); now && state_->check(*now))
      file->remove();
}

status folder_lock::check() const {
  return while_held([] { return status{}; });
}

status folder_lock::while_held(const std::function<status()>& act) const {
  if (state_->is_forked())
    return failure(error_kind::already_exists, state_->folder,
                   ": the process that this one was forked from, ", state_->self.process,
                   ", writes ", state_->options.writes, " here");
  TROUPE_ASSIGN(auto file, open_lock_file::open(state_->path, true));
  if (auto now = file.read())
    TROUPE_TRY(state_->check(*now));
  else // somebody has removed it, and no other process has the folder
    TROUPE_TRY(file.write(state_->self));
  return act();
}

} // namespace troupe
