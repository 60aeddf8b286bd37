#include "tests/support/certificates.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace troupe::test {
namespace {

template <class T>
T value_of(result<T> made) {
  if (!made)
    throw std::runtime_error{made.status().message()};
  return *std::move(made);
}

// In one piece, as those do who replace files that others read.
void write_whole(const std::string& path, const std::string& text) {
  auto beside = path + ".new";
  std::ofstream{beside} << text;
  std::filesystem::rename(beside, path);
}

} // namespace

test_authority::test_authority()
    : authority_(value_of(certificate_authority::make(validity::of_days(2)))) {
  write_whole(file(), authority_.pem().certificate);
}

tls_files test_authority::task(const std::string& job, int number, const std::string& cluster) {
  return issue({certificate_name::of_task(cluster, {job, number})});
}

tls_files test_authority::client(const std::string& name, const std::string& cluster) {
  return issue({certificate_name::of_client(cluster, name)});
}

tls_files test_authority::issue(const std::vector<certificate_name>& names, const validity& when) {
  auto number = issued_++;
  tls_files made{folder_ / concat(number, ".pem"), folder_ / concat(number, ".key"), file()};
  auto pair = value_of(authority_.issue(names, when));
  write_whole(made.certificate, pair.certificate);
  write_whole(made.key, pair.key);
  return made;
}

tls_files test_authority::token(const std::string& text) {
  return {{}, {}, file(), write(concat(issued_++, ".token"), text)};
}

std::string test_authority::write(const std::string& name, const std::string& text) {
  auto path = folder_ / name;
  write_whole(path, text);
  return path;
}

void test_authority::replace(const tls_files& files, const std::vector<certificate_name>& names) {
  auto pair = value_of(authority_.issue(names, validity::of_days(2)));
  write_whole(files.key, pair.key);
  write_whole(files.certificate, pair.certificate);
  write_whole(files.authority, authority_.pem().certificate);
}

} // namespace troupe::test
