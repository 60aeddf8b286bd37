#include "troupe/serialization/tls/private_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe {
namespace {

status cannot_write(const std::string& path) {
  return failure(error_kind::unavailable, "cannot write ", path, ": ", std::strerror(errno));
}

} // namespace

status write_private_file(const std::string& path, std::string_view content, bool replace) {
  auto draft = path + ".new";
  // A new file has mode 0600, whatever the umask and the owner of an existing file of that name.
  if (::unlink(draft.c_str()) != 0 && errno != ENOENT)
    return cannot_write(path);
  auto file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return cannot_write(path);
  auto is_written = true;
  for (auto unwritten = content; is_written && !unwritten.empty();) {
    auto written = ::write(file, unwritten.data(), unwritten.size());
    if (written > 0)
      unwritten.remove_prefix(static_cast<size_t>(written));
    else
      is_written = written < 0 && errno == EINTR;
  }
  is_written = is_written && ::fsync(file) == 0;
  is_written = ::close(file) == 0 && is_written;
  status outcome;
  if (!is_written)
    outcome = cannot_write(path);
  else if (replace && ::rename(draft.c_str(), path.c_str()) != 0)
    outcome = cannot_write(path);
  else if (!replace && ::link(draft.c_str(), path.c_str()) != 0) // never replaces
    outcome = errno == EEXIST ? failure(error_kind::already_exists, path, " exists already")
                              : cannot_write(path);
  ::unlink(draft.c_str()); // fails if the draft was renamed
  return outcome;
}

} // namespace troupe
