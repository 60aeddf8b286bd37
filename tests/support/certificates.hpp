// Authorities and certificates for tests, as files in a temporary folder.
#pragma once
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/tls/certificate_authority.hpp"
#include "troupe/serialization/tls/tls_files.hpp"

namespace troupe::test {

class test_authority {
public:
  test_authority();

  tls_files task(const std::string& job, int number, const std::string& cluster = {});
  tls_files client(const std::string& name, const std::string& cluster = {});
  tls_files issue(const std::vector<certificate_name>& names,
                  const validity& when = validity::for_days(2));
  /// For a client without a certificate.
  tls_files token(const std::string& text);
  /// A file beside the others.
  std::string write(const std::string& name, const std::string& text);
  /// Replaces these files by new ones.
  void replace(const tls_files& files, const std::vector<certificate_name>& names);

  std::string file() const { return folder_ / "authority.pem"; }

private:
  temporary_folder folder_;
  certificate_authority authority_;
  int issued_ = 0;
};

} // namespace troupe::test
