// An etcd server for tests, where etcd is installed.
#pragma once
#include "tests/support/temporary_folder.hpp"

#include <string>

#include <sys/types.h>

namespace troupe::test {

class etcd_server {
public:
  /// Whether PATH has an `etcd`.
  static bool is_installed();

  etcd_server(); ///< returns when the server answers
  ~etcd_server();
  etcd_server(const etcd_server&) = delete;
  etcd_server& operator=(const etcd_server&) = delete;

  /// "http://127.0.0.1:2379"
  const std::string& url() const noexcept { return url_; }
  void freeze();
  void go_on();
  void stop();  ///< ends the server, and keeps its data
  void start(); ///< starts it again

private:
  temporary_folder folder_;
  std::string url_, peer_url_;
  pid_t pid_ = 0;
};

} // namespace troupe::test
