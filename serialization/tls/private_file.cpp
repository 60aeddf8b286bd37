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
  auto beside = path + ".new";
  // Whatever the umask, and whoever has a file of that name.
  if (::unlink(beside.c_str()) != 0 && errno != ENOENT)
    return cannot_write(path);
  auto file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return cannot_write(path);
  auto fine = true;
  for (auto rest = content; fine && !rest.empty();) {
    auto written = ::write(file, rest.data(), rest.size());
    if (written > 0)
      rest.remove_prefix(static_cast<size_t>(written));
    else
      fine = written < 0 && errno == EINTR;
  }
  fine = fine && ::fsync(file) == 0;
  fine = ::close(file) == 0 && fine;
  status outcome;
  if (!fine)
    outcome = cannot_write(path);
  else if (replace && ::rename(beside.c_str(), path.c_str()) != 0)
    outcome = cannot_write(path);
  else if (!replace && ::link(beside.c_str(), path.c_str()) != 0) // which never replaces
    outcome = errno == EEXIST ? failure(error_kind::already_exists, path, " is there already")
                              : cannot_write(path);
  ::unlink(beside.c_str()); // but for one that was renamed
  return outcome;
}

} // namespace troupe
