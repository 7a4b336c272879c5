! SPDX-License-Identifier: BSD-2-Clause
! The type of a communicator that a program passes besides an integer: that of MPI's module mpi_f08. It is the only
! thing that the module tenon takes from MPI's modules, which, as all modules, serve only the compiler that made them.
module tenon_mpi
  use mpi_f08, only: MPI_Comm
  implicit none
  private
  public :: MPI_Comm
end module tenon_mpi
