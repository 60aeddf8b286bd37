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

constexpr auto max_wait_for_file = 5s; // for a process that reads or writes the text
constexpr size_t max_lock_text_bytes = 4096;
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

// Identifies the PID namespace: processes with the same value see each other's process numbers.
std::string pid_namespace() {
  char name[64] = {};
  auto length = ::readlink("/proc/self/ns/pid", name, sizeof name - 1);
  auto boot = first_line_of("/proc/sys/kernel/random/boot_id");
  return length > 0 && !boot.empty() ? concat(boot, ' ', name) : concat("host ", host_name());
}

struct process_state {
  bool exists = false;
  std::string started = {}; // in clock ticks since the boot; empty if it is not known
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
  if (end_of_name == std::string::npos) // for instance if /proc hides the processes of other users
    return {.exists = ::kill(process, 0) == 0 || errno == EPERM};
  std::istringstream fields{line.substr(end_of_name + 1)};
  std::string state, field;
  fields >> state;
  constexpr int fields_before_start = 18; // between the state and the time of the start
  for (int i = 0; i < fields_before_start; ++i)
    fields >> field;
  fields >> field;
  // A process that has ended, and that its parent has not waited for, is a zombie. So is the first
  // thread if it has ended before the others.
  auto has_ended = state == "X" || (state == "Z" && !has_several_threads(process));
  return {.exists = !has_ended, .started = field};
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
          .world = pid_namespace(),
          .started = state_of_process(process).started,
          .process = process};
}

std::string new_lock_token() {
  std::random_device device;
  return to_hex(uint64_t{device()} << 32 | device());
}

std::string time_now() {
  auto now = ::time(nullptr);
  struct tm parts {};
  ::gmtime_r(&now, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

// Makes one line of a text: the fields that other processes have written may contain line breaks.
std::string in_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char character) { return static_cast<unsigned char>(character) < 0x20; }, ' ');
  return text.substr(0, 256);
}

std::string text_of_holder(const lock_holder& holder) {
  return concat(lock_title, "\nhost: ", in_one_line(holder.host), "\nprocess: ", holder.process,
                "\nstarted: ", holder.started, "\nworld: ", holder.world, "\nsince: ", holder.since,
                "\nby: ", in_one_line(holder.by), "\ntoken: ", holder.token,
                "\ncount: ", holder.count, '\n');
}

template <class Number>
Number lock_number_in(const std::string& text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns nothing for an incomplete or foreign text.
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

// The file, open while no other process reads or changes it. A kernel lock (flock) ensures that. It
// is held only for moments, because children of a fork would inherit it. On a file system without
// such locks, two processes that begin at the same moment may both take a folder.
class open_lock_file {
public:
  static result<open_lock_file> open(const std::string& path, bool creates) {
    auto deadline = std::chrono::steady_clock::now() + max_wait_for_file;
    for (;;) {
      open_lock_file opened{path};
      auto flags = O_RDWR | O_CLOEXEC | (creates ? O_CREAT : 0);
      opened.file_ = ::open(path.c_str(), flags, 0666);
      if (opened.file_ < 0 && errno == EINTR)
        continue;
      if (opened.file_ < 0)
        return lock_file_error(path, errno);
      auto locked = ::flock(opened.file_, LOCK_EX | LOCK_NB) == 0 || has_no_locks(errno);
      if (!locked && errno != EWOULDBLOCK && errno != EINTR)
        return lock_file_error(path, errno);
      struct stat opened_file {
      }, path_file{};
      if (locked && ::fstat(opened.file_, &opened_file) == 0 &&
          ::stat(path.c_str(), &path_file) == 0 && opened_file.st_ino == path_file.st_ino &&
          opened_file.st_dev == path_file.st_dev)
        return opened;
      if (locked && !creates && ::stat(path.c_str(), &path_file) != 0 && errno == ENOENT)
        return lock_file_error(path, ENOENT); // the holder has removed it
      if (std::chrono::steady_clock::now() > deadline)
        return failure(error_kind::unavailable, path, ": another process has had it open for ",
                       max_wait_for_file.count(), " s; try again");
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
    std::string text(max_lock_text_bytes, '\0');
    auto count = ::pread(file_, text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return parse_holder(text);
  }

  // Overwrites in place, which also works on a full disk if the file had a text before.
  status write(const lock_holder& holder) const {
    auto text = text_of_holder(holder);
    for (size_t done = 0; done < text.size();) {
      auto count =
          ::pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return lock_file_error(path_, errno);
      done += static_cast<size_t>(count);
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

  // The thread that refreshes the file. A forked process has no such thread.
  struct refresher {
    std::mutex mutex = {};
    std::condition_variable changed = {};
    bool is_ending = false;
    std::thread thread = {};
  };
  std::unique_ptr<refresher> refreshes = std::make_unique<refresher>();

  bool is_forked() const { return ::getpid() != self.process; }

  status is_held_by(const lock_holder& other, std::string_view remedy) const {
    auto holder = other.process == ::getpid() && other.world == self.world
                      ? concat("this process (", other.by.empty() ? "?" : other.by, ')')
                      : concat("process ", other.process, " on host '", other.host, "'",
                               other.by.empty() ? "" : concat(" (", other.by, ')'));
    return failure(error_kind::already_exists, folder, ": ", holder, " writes ", options.content,
                   " here since ", other.since, remedy);
  }

  std::string remedies() const {
    return concat("; end it, choose another folder",
                  options.how_to_take_over.empty() ? ""
                                                   : concat(", or ", options.how_to_take_over));
  }

  status check(const lock_holder& current) const {
    return current.token == self.token
               ? status{}
               : is_held_by(current,
                            "; it has taken the folder over, and this process may write no more");
  }

  void refresh_until_end() {
    auto latest = self;
    std::unique_lock lock{refreshes->mutex};
    while (
        !refreshes->changed.wait_for(lock, options.refresh, [&] { return refreshes->is_ending; })) {
      lock.unlock();
      if (auto file = open_lock_file::open(path, false))
        if (auto current = file->read(); current && current->token == self.token) {
          ++latest.count;
          (void)file->write(latest); // after failures others take over, and check() reports it
        }
      lock.lock();
    }
  }
};

folder_lock::folder_lock(std::unique_ptr<state> held) : state_(std::move(held)) {}

namespace {

enum class holder_state : uint8_t { lives, has_ended, is_this_process, is_unknown };

holder_state state_of_holder(const lock_holder& other, const lock_holder& self) {
  if (other.is_of(self))
    return holder_state::is_this_process;
  if (other.world != self.world)
    return holder_state::is_unknown;
  auto current = state_of_process(static_cast<pid_t>(other.process));
  auto is_another =
      !current.started.empty() && !other.started.empty() && current.started != other.started;
  return current.exists && !is_another ? holder_state::lives : holder_state::has_ended;
}

// Returns the lock of this process with that token; null if there is none any more.
std::shared_ptr<folder_lock> known_lock(const std::string& token) {
  auto& locks = known_locks();
  std::lock_guard guard{locks.mutex};
  auto lock = locks.by_token.find(token);
  return lock == locks.by_token.end() ? nullptr : lock->second.lock();
}

void add_known_lock(const std::string& token, const std::shared_ptr<folder_lock>& lock) {
  auto& locks = known_locks();
  std::lock_guard guard{locks.mutex};
  std::erase_if(locks.by_token, [](const auto& entry) { return entry.second.expired(); });
  locks.by_token[token] = lock;
}

} // namespace

result<std::shared_ptr<folder_lock>> folder_lock::acquire(const std::string& folder,
                                                          folder_lock_options options) {
  auto writer = std::make_unique<state>();
  writer->folder = folder;
  writer->path = path_in(folder, options.file);
  writer->options = std::move(options);
  writer->self = this_process();
  writer->self.by = writer->options.owner;
  writer->self.since = time_now();
  writer->self.token = new_lock_token();
  std::optional<lock_holder> watched; // a holder in another PID namespace
  auto watched_since = std::chrono::steady_clock::now();
  for (;;) {
    {
      TROUPE_ASSIGN(auto file, open_lock_file::open(writer->path, true));
      auto current = file.read();
      auto outcome = current ? state_of_holder(*current, writer->self) : holder_state::has_ended;
      if (outcome == holder_state::is_this_process) {
        auto known = known_lock(current->token);
        if (known && writer->options.shared_in_process)
          return known;
        outcome = known ? holder_state::lives : holder_state::has_ended;
      }
      if (outcome == holder_state::is_unknown && watched && watched->token == current->token) {
        if (watched->count != current->count)
          outcome = holder_state::lives;
        else if (std::chrono::steady_clock::now() - watched_since >= writer->options.lease)
          outcome = holder_state::has_ended;
      } else if (outcome == holder_state::is_unknown) {
        watched = current;
        watched_since = std::chrono::steady_clock::now();
      }
      if (outcome == holder_state::has_ended || writer->options.take_over) {
        auto written = file.write(writer->self);
        if (!written && !current)
          file.remove();
        TROUPE_TRY(std::move(written));
        break;
      }
      if (outcome == holder_state::lives)
        return writer->is_held_by(*current, writer->remedies());
    }
    std::this_thread::sleep_for(
        std::min<std::chrono::milliseconds>(writer->options.refresh / 4, 250ms));
  }
  auto* held = writer.get();
  std::shared_ptr<folder_lock> lock{new folder_lock{std::move(writer)}};
  add_known_lock(held->self.token, lock);
  try {
    held->refreshes->thread = std::thread{[held] { held->refresh_until_end(); }};
  } catch (const std::system_error& error) {
    return failure(error_kind::resource_exhausted, folder,
                   ": no thread for its lock: ", error.what());
  }
  return lock;
}

folder_lock::~folder_lock() {
  if (state_->is_forked()) { // the file and the thread belong to the parent process
    (void)state_->refreshes.release();
    return;
  }
  {
    std::lock_guard guard{state_->refreshes->mutex};
    state_->refreshes->is_ending = true;
  }
  state_->refreshes->changed.notify_all();
  if (state_->refreshes->thread.joinable())
    state_->refreshes->thread.join();
  if (auto file = open_lock_file::open(state_->path, false))
    if (auto current = file->read(); current && state_->check(*current))
      file->remove();
}

status folder_lock::check() const {
  return while_held([] { return status{}; });
}

status folder_lock::while_held(const std::function<status()>& action) const {
  if (state_->is_forked())
    return failure(error_kind::already_exists, state_->folder,
                   ": the process that this one was forked from, ", state_->self.process,
                   ", writes ", state_->options.content, " here");
  TROUPE_ASSIGN(auto file, open_lock_file::open(state_->path, true));
  if (auto current = file.read())
    TROUPE_TRY(state_->check(*current));
  else // the file was removed, and no other process has taken the folder
    TROUPE_TRY(file.write(state_->self));
  return action();
}

} // namespace troupe
