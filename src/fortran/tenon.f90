! SPDX-License-Identifier: BSD-2-Clause
! The module of user programs: `use tenon`. doc/fortran.md documents the conventions.
module tenon
  use tenon_types
  use tenon_calls
  use tenon_arrays
  use tenon_procedures
  use tenon_start
  implicit none
  public
end module tenon
