! SPDX-License-Identifier: BSD-2-Clause
! In place of tenon_mpi.f90 where MPI has no module mpi_f08 for the compiler: a type of the same form, which no program has.
! Communicators are then integers, those of mpif.h or of the module mpi.
module tenon_mpi
  use iso_c_binding, only: c_int
  implicit none
  private
  public :: MPI_Comm
  type, bind(C) :: MPI_Comm
    integer(c_int) :: MPI_VAL
  end type MPI_Comm
end module tenon_mpi
